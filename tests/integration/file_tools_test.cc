// list_directory, read_file and write_file through the real binary and a real sshd.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <regex>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;

constexpr std::uint64_t kGoModeDirectory = std::uint64_t{1} << 31;
constexpr std::uint64_t kGoModeSymlink = std::uint64_t{1} << 27;

class FileTools : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{root, "", true}});
  }
  json Entry(const std::string& name) {
    const json result = Call("list_directory", {{"path", root}});
    for (const json& entry : result.at("entries"))
      if (entry.at("name") == name) return entry;
    throw std::runtime_error("no entry " + name);
  }
  const std::string root = Path("root").string();
};

using ListDirectory = FileTools;
using ReadFileTool = FileTools;
using WriteFileTool = FileTools;

TEST_F(ListDirectory, SortsByNameWithoutTheDots) {
  for (const std::string name : {"b", "a", ".hidden", "C"}) MakeFile("root/" + name, "");
  EXPECT_THAT(List(root), ElementsAre(".hidden", "C", "a", "b"));
}

TEST_F(ListDirectory, EmptyDirectoryIsAnEmptyList) {
  EXPECT_EQ(Call("list_directory", {{"path", root}}), (json{{"entries", json::array()}}));
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

TEST_F(ListDirectory, MissingDirectoryIsAnErrorThatNamesIt) {
  EXPECT_THAT(Refusal("list_directory", {{"path", root + "/missing"}}),
              HasSubstr(root + "/missing does not exist"));
}

TEST_F(ReadFileTool, IsFaithfulToEveryByteOfText) {
  const std::string text =
      "\xEF\xBB\xBF"
      "first\r\n\r\nthird \u00e9\u4e2d\U0001F600\tno newline at the end";
  MakeFile("root/a.txt", text);
  EXPECT_EQ(Read(root + "/a.txt"), text);
}

TEST_F(ReadFileTool, EmptyFileIsAnEmptyText) {
  MakeFile("root/empty", "");
  EXPECT_EQ(Read(root + "/empty"), "");
}

TEST_F(ReadFileTool, LargeFileComesWhole) {
  std::string text;
  for (int line = 0; text.size() < (std::size_t{4} << 20); ++line)
    text += "line " + std::to_string(line) + "\n";
  MakeFile("root/large.txt", text);
  EXPECT_TRUE(Read(root + "/large.txt") == text);
}

TEST_F(ReadFileTool, OffsetAndLimitReadARangeOfLines) {
  MakeFile("root/a.txt", "zero\none\ntwo\nthree\n");
  const auto read = [&](const json& range) {
    json arguments = {{"path", root + "/a.txt"}};
    arguments.update(range);
    return Call("read_file", arguments).value("content", "(failed)");
  };
  EXPECT_EQ(read({{"offset", 1}, {"limit", 2}}), "one\ntwo\n");
  EXPECT_EQ(read({{"offset", 3}}), "three\n");
  EXPECT_EQ(read({{"limit", 1}}), "zero\n");
}

TEST_F(ReadFileTool, MissingFileDoesNotExist) {
  EXPECT_EQ(ReadRefusal(root + "/missing"), "file does not exist");
  EXPECT_EQ(ReadRefusal(root + "/missing/too"), "file does not exist");
}

TEST_F(ReadFileTool, ImageComesAsAnImageBlock) {
  const std::string png =
      "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89"s;
  MakeFile("root/dot.png", png);
  const json result = client().CallTool("read_file", {{"path", root + "/dot.png"}});
  bool has_image = false;
  for (const json& block : result.at("content")) {
    if (block.at("type") != "image") continue;
    has_image = true;
    EXPECT_EQ(block.at("mimeType"), "image/png");
  }
  EXPECT_TRUE(has_image) << result.dump();
}

TEST_F(ReadFileTool, OtherBinaryIsAnErrorWithItsSize) {
  MakeFile("root/a.out",
           "\x7f"
           "ELF\2\1\1\0\0\0\0\0\0\0\0\0\0"s);
  EXPECT_THAT(ReadRefusal(root + "/a.out"), HasSubstr("17"));
}

TEST_F(WriteFileTool, CreatesTheFileAndItsParents) {
  Write(root + "/new/directories/a.txt", "text");
  EXPECT_EQ(ReadFile(Path("root/new/directories/a.txt")), "text");
}

TEST_F(WriteFileTool, ReplacesTheWholeFileAndLeavesNothingBeside) {
  MakeFile("root/a.txt", "a much longer text that was there before");
  Write(root + "/a.txt", "short");
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "short");
  EXPECT_THAT(List(root), ElementsAre("a.txt"));
}

TEST_F(WriteFileTool, WritesEveryByteAsGiven) {
  const std::string text =
      "\xEF\xBB\xBF"
      "crlf\r\nnul\0tab\t\u00e9 no newline"s;
  Write(root + "/a.txt", text);
  EXPECT_EQ(ReadFile(Path("root/a.txt")), text);
  Write(root + "/empty", "");
  EXPECT_EQ(ReadFile(Path("root/empty")), "");
}

TEST_F(WriteFileTool, KeepsTheMode) {
  MakeFile("root/script", "old");
  ASSERT_EQ(::chmod(Path("root/script").c_str(), 0751), 0);
  Write(root + "/script", "new");
  EXPECT_EQ(ModeOf(Path("root/script")), 0751U);
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

TEST_F(WriteFileTool, BreaksHardLinks) {
  MakeFile("root/first", "old");
  fs::create_hard_link(Path("root/first"), Path("root/second"));
  Write(root + "/first", "new");
  EXPECT_EQ(ReadFile(Path("root/first")), "new");
  EXPECT_EQ(ReadFile(Path("root/second")), "old");
}

TEST_F(WriteFileTool, RemovesWhatAKilledServerLeftTenMinutesAgo) {
  MakeFile("root/.limactl-mcp-1", "left");
  MakeFile("root/.limactl-mcp-2", "of a write that goes on");
  fs::last_write_time(Path("root/.limactl-mcp-1"),
                      fs::file_time_type::clock::now() - std::chrono::minutes(11));
  Write(root + "/a.txt", "text");
  EXPECT_THAT(List(root), ElementsAre(".limactl-mcp-2", "a.txt"));
}

TEST_F(WriteFileTool, LargeTextArrivesWhole) {
  const std::string text(std::size_t{3} << 20, 'x');
  Write(root + "/large", text);
  EXPECT_TRUE(ReadFile(Path("root/large")) == text);
}

/// A guest user whom file permissions bind. root they do not bind, so root gives that power up for
/// whatever sshd starts.
class Permissions : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    testing_support::LoopbackInstance::Options options;
    options.mounts = {{root, "", true}};
    if (::getuid() == 0) {
      if (!fs::exists("/usr/bin/setpriv")) {
        GTEST_SKIP() << Skipping("root is bound by no permissions, and setpriv is not here");
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

TEST_F(Permissions, ReadWithoutPermissionIsDenied) {
  MakeFile("root/a.txt", "text");
  Close("root/a.txt", 0);
  EXPECT_EQ(ReadRefusal(root + "/a.txt"), "permission denied");
}

TEST_F(Permissions, ClosedDirectoryIsDenied) {
  MakeFile("root/closed/a.txt", "text");
  Close("root/closed", 0);
  EXPECT_EQ(Refusal("list_directory", {{"path", root + "/closed"}}), "permission denied");
  EXPECT_EQ(ReadRefusal(root + "/closed/a.txt"), "permission denied");
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

TEST_F(Permissions, FileMarkedReadOnlyIsDenied) {
  MakeFile("root/a.txt", "text");
  Close("root/a.txt", 0444);
  EXPECT_EQ(WriteRefusal(root + "/a.txt"), "permission denied");
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "text");
}

TEST_F(Permissions, WriteIntoADirectoryWithoutPermissionIsDenied) {
  MakeFile("root/readonly/a.txt", "text");
  Close("root/readonly", 0555);
  EXPECT_THAT(WriteRefusal(root + "/readonly/b.txt"), HasSubstr("permission denied"));
  EXPECT_THAT(WriteRefusal(root + "/readonly/new/b.txt"), HasSubstr("permission denied"));
  EXPECT_EQ(ReadFile(Path("root/readonly/a.txt")), "text");
}

}  // namespace
}  // namespace integration
