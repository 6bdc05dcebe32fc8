// The file tools through the real binary and a real sshd. tests/unit/tools has the other cases.

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "integration/fixture.h"
#include "testing/sockets.h"

namespace integration {
namespace {

class FileTools : public IntegrationTest {
 protected:
  void SetUp() override { StartGuest({}, {"--allow-path", "/dev:w"}); }
};

TEST_F(FileTools, ArgumentsThatBreakTheSchemaAreToolErrors) {
  const std::vector<std::pair<std::string, json>> bad = {
      {"read_file", json::object()},
      {"read_file", {{"path", 7}}},
      {"read_file", {{"path", "/x"}, {"unknown", true}}},
      {"write_file", {{"path", "/x"}}},
      {"list_directory", {{"path", nullptr}}},
      {"glob", {{"path", "/x"}}},
      {"run_shell_command", {{"command", "ls -l"}, {"directory", "/"}}},
      {"run_shell_command", {{"command", json::array({"ls", 1})}, {"directory", "/"}}},
      {"run_shell_command", {{"command", json::array({"ls"})}}},
      {"search_file_content", {{"pattern", json::array({"x"})}}},
      {"start_process", {{"command", {"x"}}, {"directory", "/"}, {"wait_ms", -1}}},
      {"write_process", {{"id", "p1"}, {"signal", "STOP"}}}};
  for (const auto& [tool, arguments] : bad) {
    EXPECT_THAT(Refusal(tool, arguments), StartsWith("validating \"arguments\": "))
        << tool << " " << arguments.dump();
  }
}

TEST_F(FileTools, ThirtyThousandEntriesAreListedAndMoreThanFitAreAnError) {
  MakeDirectory("root/large");
  // Links are made faster than files.
  const fs::path file = MakeFile("root/file", "");
  const auto fill = [&](int begin, int end, const std::string& suffix) {
    const std::string large = Path("root/large/");
    for (int i = begin; i < end; ++i) {
      fs::create_hard_link(file, large + std::to_string(i) + suffix);
    }
  };
  fill(10'000, 40'000, "");
  // Not with Call: its checks take seconds for so many.
  const json result = client().CallTool("list_directory", {{"path", root + "/large"}});
  const json& entries = result.at("structuredContent").at("entries");
  ASSERT_EQ(entries.size(), 30'000U);
  EXPECT_EQ(entries.front().at("name"), "10000");
  EXPECT_EQ(entries.back().at("name"), "39999");
  fill(40'000, 46'000, std::string(240, 'n'));
  EXPECT_THAT(Refusal("list_directory", {{"path", root + "/large"}}), HasSubstr("with glob"));
}

// Special files are refused at once: far below every deadline of the program, and far above what an
// answer takes on a busy machine.
constexpr std::chrono::seconds kAtOnce{10};

TEST_F(FileTools, NeitherReadNorWriteSpecialFilesAndDoNotHang) {
  ASSERT_EQ(::mkfifo(Path("root/fifo").c_str(), 0600), 0);
  MakeLink("root/link", "fifo");
  MakeDirectory("root/directory");
  MakeFile("root/a.txt", "needle\n");
  const auto socket = testing_support::ListenOnUnix(root + "/socket");
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
  EXPECT_EQ(Search({{"pattern", "needle"}, {"path", root}}), "a.txt:1:needle\n");
  EXPECT_THAT(List(root), ElementsAre("a.txt", "directory", "fifo", "link", "socket"));
}

/// A guest user whom file permissions bind: if the tests run as root, sshd's children give up
/// root's power to ignore them.
class Permissions : public IntegrationTest {
 protected:
  void SetUp() override {
    std::vector<std::string> sshd_options;
    if (::getuid() == 0) {
      if (!fs::exists("/usr/bin/setpriv")) {
        GTEST_SKIP() << Skipping("root ignores permissions, and setpriv is missing");
      }
      sshd_options = {
          "ForceCommand exec /usr/bin/setpriv --bounding-set=-dac_override,-dac_read_search "
          "/bin/sh -c \"$SSH_ORIGINAL_COMMAND\""};
    }
    StartGuest(sshd_options);
  }
  void TearDown() override {
    for (const char* name : {"root/closed", "root/readonly"}) {
      if (fs::exists(Path(name))) ::chmod(Path(name).c_str(), 0700);
    }
  }
  void Close(const std::string& name, mode_t mode) {
    ASSERT_EQ(::chmod(Path(name).c_str(), mode), 0);
  }
};

TEST_F(Permissions, WhatTheUserMayNotDoIsPermissionDenied) {
  MakeFile("root/a.txt", "text");
  MakeFile("root/closed/a.txt", "text");
  MakeFile("root/readonly/a.txt", "a longer text");
  Close("root/a.txt", 0444);
  Close("root/closed", 0);
  Close("root/readonly", 0555);
  EXPECT_EQ(WriteRefusal(root + "/a.txt"), "permission denied") << "marked read-only";
  EXPECT_EQ(Refusal("list_directory", {{"path", root + "/closed"}}), "permission denied");
  EXPECT_EQ(ReadRefusal(root + "/closed/a.txt"), "permission denied");
  EXPECT_EQ(WriteRefusal(root + "/readonly/b.txt"), "permission denied");
  EXPECT_EQ(WriteRefusal(root + "/readonly/new/b.txt"), "permission denied");
  const json in_place =
      client().CallTool("write_file", {{"path", root + "/readonly/a.txt"}, {"content", "new"}});
  EXPECT_THAT(in_place.at("content").back().at("text"), HasSubstr("was written in place"));
  EXPECT_EQ(ReadFile(Path("root/readonly/a.txt")), "new");
  Close("root/a.txt", 0);
  EXPECT_EQ(ReadRefusal(root + "/a.txt"), "permission denied");
}

}  // namespace
}  // namespace integration
