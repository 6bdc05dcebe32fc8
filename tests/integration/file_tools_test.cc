// The file tools through the real binary and a real sshd. tests/unit/tools has the other cases.

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <system_error>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::FileDescriptor;
using testing_support::TextOf;
using namespace std::string_literals;

constexpr std::uint64_t kGoModeDirectory = std::uint64_t{1} << 31;
constexpr std::uint64_t kGoModeSymlink = std::uint64_t{1} << 27;

class FileTools : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{root, "", true}}, {"--allow-path", "/dev:w"});
  }
  json Entry(const std::string& name) {
    const json result = Call("list_directory", {{"path", root}});
    for (const json& entry : result.at("entries"))
      if (entry.at("name") == name) return entry;
    throw std::runtime_error("no entry " + name);
  }
  json Edit(const std::string& old_string, const std::string& new_string) const {
    return {{"path", root + "/a.txt"}, {"old_string", old_string}, {"new_string", new_string}};
  }
  const std::string root = Path("root").string();
};

using ListDirectory = FileTools;
using ReadFileTool = FileTools;
using WriteFileTool = FileTools;
using ReplaceTool = FileTools;
using SpecialFiles = FileTools;

// list_directory

TEST_F(ListDirectory, SortsByNameWithoutTheDots) {
  EXPECT_EQ(Call("list_directory", {{"path", root}}), (json{{"entries", json::array()}}));
  for (const std::string name : {"b", "a", ".hidden", "C"}) MakeFile("root/" + name, "");
  EXPECT_THAT(List(root), ElementsAre(".hidden", "C", "a", "b"));
  EXPECT_THAT(Refusal("list_directory", {{"path", root + "/missing"}}),
              HasSubstr(root + "/missing does not exist"));
}

TEST_F(ListDirectory, EntryHasSizeModeTimeAndKind) {
  MakeFile("root/file", "12345");
  ASSERT_EQ(::chmod(Path("root/file").c_str(), 0754), 0);
  MakeDirectory("root/directory");
  ASSERT_EQ(::chmod(Path("root/directory").c_str(), 0750), 0);
  MakeLink("root/link", "file");
  EXPECT_EQ(Entry("file").at("size"), 5);
  EXPECT_EQ(Entry("file").at("mode"), 0754);
  EXPECT_EQ(Entry("file").at("is_dir"), false);
  EXPECT_EQ(Entry("directory").at("mode"), kGoModeDirectory | 0750U);
  EXPECT_EQ(Entry("directory").at("is_dir"), true);
  EXPECT_EQ(Entry("link").at("mode").get<std::uint64_t>() & ~std::uint64_t{0777}, kGoModeSymlink);
  EXPECT_TRUE(
      std::regex_match(Entry("file").at("time").get<std::string>(),
                       std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))")));
}

TEST_F(ListDirectory, ThirtyThousandEntriesAreListedAndMoreThanFitAreAnError) {
  MakeDirectory("root/large");
  const auto fill = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) std::ofstream(Path("root/large/" + std::to_string(i)));
  };
  fill(10'000, 40'000);
  const json entries = Call("list_directory", {{"path", root + "/large"}}).at("entries");
  ASSERT_EQ(entries.size(), 30'000U);
  EXPECT_EQ(entries.front().at("name"), "10000");
  EXPECT_EQ(entries.back().at("name"), "39999");
  fill(40'000, 70'000);
  EXPECT_THAT(Refusal("list_directory", {{"path", root + "/large"}}), HasSubstr("with glob"));
}

TEST_F(ListDirectory, FilesThatGitHidesAreReachedByName) {
  MakeFile("root/.git/info/exclude", "needle");
  MakeFile("root/.gitignore", "ignored/\n");
  MakeFile("root/ignored/a.txt", "needle\n");
  EXPECT_THAT(Glob({{"pattern", "**/exclude"}, {"path", root}}), IsEmpty());
  EXPECT_THAT(List(root), ElementsAre(".git", ".gitignore", "ignored"));
  EXPECT_EQ(Read(root + "/.git/info/exclude"), "needle");
  EXPECT_EQ(Read(root + "/ignored/a.txt"), "needle\n");
  Write(root + "/ignored/b.txt", "new");
  EXPECT_EQ(ReadFile(Path("root/ignored/b.txt")), "new");
}

// read_file and write_file

TEST_F(ReadFileTool, EveryByteOfATextIsReadAndWrittenAsItIs) {
  const std::string text =
      "\xEF\xBB\xBF"
      "first\r\n\r\nthird \u00e9\u4e2d\U0001F600\tnul\0 no newline at the end"s;
  for (const std::string& content : {text, ""s, std::string(std::size_t{3} << 20, 'x')}) {
    MakeFile("root/a.txt", content);
    EXPECT_TRUE(Read(root + "/a.txt") == content);
    Write(root + "/new/directories/b.txt", content);
    EXPECT_TRUE(ReadFile(Path("root/new/directories/b.txt")) == content);
  }
  EXPECT_EQ(ReadRefusal(root + "/missing/too"), "file does not exist");
}

TEST_F(ReadFileTool, LargeFilesAreReadInRanges) {
  MakeFile("root/a.txt", std::string((std::size_t{32} << 20) - 2, 'a') + "\nb");
  EXPECT_THAT(ReadRefusal(root + "/a.txt"), AllOf(HasSubstr("offset"), HasSubstr("limit")));
  std::ofstream(Path("root/a.txt"), std::ios::app) << "c";
  EXPECT_THAT(ReadRefusal(root + "/a.txt"),
              AllOf(HasSubstr("33554433 bytes"), HasSubstr("offset"), HasSubstr("limit")));
  EXPECT_EQ(
      Call("read_file", {{"path", root + "/a.txt"}, {"offset", 1}, {"limit", 1}}).at("content"),
      "bc");
}

TEST_F(ReadFileTool, OtherEncodingsAreShownWithReplacementCharactersAndNotOverwritten) {
  MakeFile("root/a.txt", "caf\xE9\n");
  const json result = client().CallTool("read_file", {{"path", root + "/a.txt"}});
  EXPECT_EQ(result["structuredContent"]["content"], "caf\uFFFD\n");
  EXPECT_THAT(result["content"][1]["text"].get<std::string>(),
              AllOf(HasSubstr("not valid UTF-8: 1"), HasSubstr("U+FFFD")));
  // A client that shows only structuredContent loses the note, but not the bytes.
  Refusal("write_file", {{"path", root + "/a.txt"}, {"content", "caf\uFFFD!\n"}});
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "caf\xE9\n");

  const std::string utf16 = "\xFF\xFEh\0i\0"s;
  MakeFile("root/a.txt", utf16);
  EXPECT_THAT(ReadRefusal(root + "/a.txt"), AllOf(HasSubstr("UTF-16"), HasSubstr("6 bytes")));
  EXPECT_THAT(Refusal("write_file", {{"path", root + "/a.txt"}, {"content", "\uFFFDh i "}}),
              HasSubstr("not UTF-8"));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), utf16);
}

TEST_F(ReadFileTool, ImageIsAnImageBlock) {
  MakeFile("root/dot.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\x15\xc4\x89"s);
  const json result = client().CallTool("read_file", {{"path", root + "/dot.png"}});
  EXPECT_EQ(result["content"][1]["type"], "image") << result.dump();
  EXPECT_EQ(result["content"][1]["mimeType"], "image/png");
  EXPECT_THAT(result["structuredContent"]["content"].get<std::string>(), HasSubstr("PNG image"));
}

TEST_F(WriteFileTool, ReplacesTheFileKeepsItsModeAndBreaksHardLinks) {
  MakeFile("root/first", "a much longer text that was there before");
  ASSERT_EQ(::chmod(Path("root/first").c_str(), 0751), 0);
  fs::create_hard_link(Path("root/first"), Path("root/second"));
  Write(root + "/first", "new");
  EXPECT_EQ(ReadFile(Path("root/first")), "new");
  EXPECT_EQ(ModeOf(Path("root/first")), 0751U);
  EXPECT_EQ(ReadFile(Path("root/second")), "a much longer text that was there before");
  EXPECT_THAT(List(root), ElementsAre("first", "second"));
}

TEST_F(WriteFileTool, KeepsTheModeUnderATightUmask) {
  testing_support::LoopbackInstance::Options options;
  options.name = "tight";
  options.mounts = {{root, "", true}};
  options.sshd_options = {"ForceCommand umask 077; exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\""};
  StartInstance(options);
  Serve({.arguments = {"tight"}});
  MakeFile("root/file", "old");
  ASSERT_EQ(::chmod(Path("root/file").c_str(), 0664), 0);
  Write(root + "/file", "new");
  EXPECT_EQ(ModeOf(Path("root/file")), 0664U);
  Write(root + "/new", "new");
  EXPECT_EQ(ModeOf(Path("root/new")), 0600U) << "the umask counts";
}

TEST_F(WriteFileTool, RemovesWhatAKilledServerLeftTenMinutesAgo) {
  MakeFile("root/.limactl-mcp-1", "left");
  MakeFile("root/.limactl-mcp-2", "of a write that goes on");
  fs::last_write_time(Path("root/.limactl-mcp-1"),
                      fs::file_time_type::clock::now() - std::chrono::minutes(11));
  Write(root + "/a.txt", "text");
  EXPECT_THAT(List(root), ElementsAre(".limactl-mcp-2", "a.txt"));
}

// replace

TEST_F(ReplaceTool, ReplacesOneOccurrenceOrAll) {
  MakeFile("root/a.txt", "x\r\ncaf\xE9\r\nx\r\n");
  ASSERT_EQ(::chmod(Path("root/a.txt").c_str(), 0751), 0);
  EXPECT_THAT(Refusal("replace", Edit("x", "y")),
              AllOf(HasSubstr("2 times"), HasSubstr("lines 1, 3"), HasSubstr("allow_multiple")));
  EXPECT_EQ(Call("replace", Edit("\nx\n", "\nz\n")), (json{{"replacements", 1}}));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "x\r\ncaf\xE9\r\nz\r\n");
  json all = Edit("\n", "\n\n");
  all["allow_multiple"] = true;
  EXPECT_EQ(Call("replace", all), (json{{"replacements", 3}}));
  EXPECT_EQ(ModeOf(Path("root/a.txt")), 0751U);
  EXPECT_THAT(List(root), ElementsAre("a.txt"));
}

TEST_F(ReplaceTool, ErrorsLeaveTheFileAlone) {
  EXPECT_EQ(Refusal("replace", Edit("a", "b")), "file does not exist");
  MakeFile("root/a.txt", "caf\xE9 x");
  EXPECT_THAT(Refusal("replace", Edit("other", "y")), HasSubstr("0 times"));
  EXPECT_THAT(Refusal("replace", Edit("x", "\uFFFD")), HasSubstr("U+FFFD"));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "caf\xE9 x");
}

// Special files are refused at once: far below every deadline of the program, and far above what an
// answer takes on a busy machine.
constexpr std::chrono::seconds kAtOnce{10};

TEST_F(SpecialFiles, AreNeitherReadNorWrittenAndNothingHangs) {
  ASSERT_EQ(::mkfifo(Path("root/fifo").c_str(), 0600), 0);
  MakeLink("root/link", "fifo");
  MakeDirectory("root/directory");
  MakeFile("root/a.txt", "needle\n");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (root + "/socket").c_str(), sizeof(address.sun_path) - 1);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  for (const auto& [path, kind] :
       std::map<std::string, std::string>{{root, "directory"},
                                          {root + "/directory", "directory"},
                                          {root + "/fifo", "FIFO"},
                                          {root + "/link", "FIFO"},
                                          {root + "/socket", "socket"},
                                          {root + "/a.txt/below", "a file, not a directory"},
                                          {"/dev/zero", "device"},
                                          {"/dev/null", "device"}}) {
    for (const auto& [tool, arguments] : std::map<std::string, json>{
             {"read_file", {{"path", path}}}, {"write_file", {{"path", path}, {"content", "x"}}}}) {
      const json result = client().CallTool(tool, arguments, kAtOnce);
      EXPECT_TRUE(result.value("isError", false)) << tool << " " << path << ": " << result;
      EXPECT_THAT(TextOf(result), HasSubstr(kind)) << tool << " " << path;
    }
  }
  Refusal("list_directory", {{"path", root + "/a.txt"}});
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", root}}), ElementsAre(root + "/a.txt"));
  EXPECT_EQ(Call("search_file_content", {{"pattern", "needle"}, {"path", root}})
                .value("git_grep_output", ""),
            "a.txt:1:needle\n");
  EXPECT_THAT(List(root), ElementsAre("a.txt", "directory", "fifo", "link", "socket"));
}

/// A guest user whom file permissions bind: if the tests run as root, sshd's children give up
/// root's power to ignore them.
class Permissions : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    testing_support::LoopbackInstance::Options options;
    options.mounts = {{root, "", true}};
    if (::getuid() == 0) {
      if (!fs::exists("/usr/bin/setpriv")) {
        GTEST_SKIP() << Skipping("root ignores permissions, and setpriv is missing");
      }
      options.sshd_options = {
          "ForceCommand exec /usr/bin/setpriv --bounding-set=-dac_override,-dac_read_search "
          "/bin/sh -c \"$SSH_ORIGINAL_COMMAND\""};
    }
    StartInstance(options);
    Serve();
  }
  void TearDown() override {
    for (const char* name : {"root/closed", "root/readonly"}) {
      if (fs::exists(Path(name))) ::chmod(Path(name).c_str(), 0700);
    }
  }
  void Close(const std::string& name, mode_t mode) {
    ASSERT_EQ(::chmod(Path(name).c_str(), mode), 0);
  }
  const std::string root = Path("root").string();
};

TEST_F(Permissions, WhatTheUserMayNotDoIsPermissionDenied) {
  MakeFile("root/a.txt", "text");
  MakeFile("root/closed/a.txt", "text");
  MakeFile("root/readonly/a.txt", "text");
  Close("root/a.txt", 0444);
  Close("root/closed", 0);
  Close("root/readonly", 0555);
  EXPECT_EQ(WriteRefusal(root + "/a.txt"), "permission denied") << "marked read-only";
  EXPECT_EQ(Refusal("list_directory", {{"path", root + "/closed"}}), "permission denied");
  EXPECT_EQ(ReadRefusal(root + "/closed/a.txt"), "permission denied");
  EXPECT_EQ(WriteRefusal(root + "/readonly/b.txt"), "permission denied");
  EXPECT_EQ(WriteRefusal(root + "/readonly/new/b.txt"), "permission denied");
  Close("root/a.txt", 0);
  EXPECT_EQ(ReadRefusal(root + "/a.txt"), "permission denied");
}

TEST_F(Permissions, FileInADirectoryThatTakesNoNewOneIsWrittenInPlaceAndTheResultSaysSo) {
  MakeFile("root/readonly/a.txt", "one two");
  Close("root/readonly", 0555);
  const std::string path = root + "/readonly/a.txt";
  for (const auto& [tool, arguments] : std::map<std::string, nlohmann::json>{
           {"replace", {{"path", path}, {"old_string", "two"}, {"new_string", "2"}}},
           {"write_file", {{"path", path}, {"content", "new"}}}}) {
    const nlohmann::json result = client().CallTool(tool, arguments);
    EXPECT_FALSE(result.value("isError", false)) << result;
    EXPECT_THAT(result.at("content").back().at("text"), HasSubstr("was written in place"));
  }
  EXPECT_EQ(ReadFile(Path("root/readonly/a.txt")), "new");
}

}  // namespace
}  // namespace integration
