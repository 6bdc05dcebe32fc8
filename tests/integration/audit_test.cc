// `serve --audit FILE`: a record of every call.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Audit : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "text");
    StartInstance({{root, "", true}});
  }

  void ServeWithAudit(const std::string& audit_file) {
    Serve({.arguments = {"default", "--audit", audit_file}});
  }

  [[nodiscard]] std::vector<json> Records() const {
    std::vector<json> records;
    for (const std::string& line : LinesOf(ReadFile(file))) records.push_back(json::parse(line));
    return records;
  }

  const std::string root = Path("root").string();
  const std::string file = Path("audit.jsonl").string();
};

TEST_F(Audit, EveryCallIsOneLineInAFileForItsOwnerOnly) {
  ServeWithAudit(file);
  Read(root + "/a.txt");
  Refusal("read_file", {{"path", "/etc/passwd"}});
  Call("run_shell_command", {{"command", {"sh", "-c", "exit 3"}}, {"directory", root}});
  Refusal("read_file", {{"path", 7}});
  client().Request("tools/call", {{"name", "no_such_tool"}, {"arguments", {{"a", 1}}}});

  EXPECT_EQ(ModeOf(file), 0600U);
  const std::vector<json> records = Records();
  ASSERT_EQ(records.size(), 5U);
  for (const json& record : records) {
    EXPECT_THAT(record.at("time").get<std::string>(),
                MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"));
    EXPECT_GE(record.at("duration_ms").get<int>(), 0);
  }
  EXPECT_EQ(records[0].at("tool"), "read_file");
  EXPECT_EQ(records[0].at("arguments"), json({{"path", root + "/a.txt"}}));
  EXPECT_EQ(records[0].at("outcome"), "succeeded");
  EXPECT_EQ(records[1].at("outcome"), "failed");
  EXPECT_THAT(records[1].at("error").get<std::string>(), HasSubstr("/etc/passwd is outside"));
  EXPECT_EQ(records[2].at("outcome"), "succeeded");
  EXPECT_EQ(records[2].at("exit_code"), 3);
  EXPECT_EQ(records[3].at("outcome"), "refused");
  EXPECT_EQ(records[3].at("arguments"), json({{"path", 7}}));
  EXPECT_EQ(records[4].at("tool"), "no_such_tool");
  EXPECT_EQ(records[4].at("outcome"), "refused");
}

// The first file to be opened would otherwise become standard output.
TEST_F(Audit, ResponsesDoNotGoIntoTheFileWhenStandardOutputIsClosed) {
  testing_support::ChildProcess::Options options =
      ServerOptions({"serve", "default", "--audit", file});
  options.arguments.insert(options.arguments.begin(), {"sh", "-c", "exec \"$0\" \"$@\" >&-"});
  (void)testing_support::RunProcess(options,
                                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
  EXPECT_EQ(ReadFile(file), "");
}

TEST_F(Audit, ContentsAreShortened) {
  ServeWithAudit(file);
  const std::string content(100'000, 'x');
  Write(root + "/a.txt", content);
  Call("run_shell_command", {{"command", {"true", content}}, {"directory", root}});
  const std::vector<json> records = Records();
  ASSERT_EQ(records.size(), 2U);
  const std::string shown = std::string(512, 'x') + "… [99488 more bytes]";
  EXPECT_EQ(records[0].at("arguments").at("content"), shown);
  EXPECT_EQ(records[1].at("arguments").at("command"), json({"true", shown}));
}

TEST_F(Audit, CancelledCallsAreRecorded) {
  ServeWithAudit(file);
  const std::int64_t id = client().SendRequest(
      "tools/call",
      {{"name", "run_shell_command"},
       {"arguments",
        {{"command", {"sh", "-c", "echo > started; exec sleep 300"}}, {"directory", root}}}});
  while (!fs::exists(root + "/started")) client().Request("ping");
  client().SendNotification("notifications/cancelled", {{"requestId", id}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (Records().empty() && std::chrono::steady_clock::now() < deadline) {
    client().Request("ping");
  }
  ASSERT_EQ(Records().size(), 1U);
  EXPECT_EQ(Records()[0].at("outcome"), "cancelled");
}

TEST_F(Audit, FailingWriteStopsNoCall) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << Skipping("this machine has no /dev/full");
  ServeWithAudit("/dev/full");
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(client().CloseAndWait(), 0);
  EXPECT_THAT(client().log(), HasSubstr("--audit /dev/full: cannot be written"));
}

TEST_F(Audit, FileThatTheAgentCanWriteIsRefused) {
  fs::create_directory_symlink(root, Path("to-the-mount"));
  fs::create_symlink(Path("new-profile"), root + "/to-nothing");
  for (const std::string& place :
       {root + "/audit.jsonl", root + "/to-nothing", Path("to-the-mount/audit.jsonl").string()}) {
    const auto result = RunServer({"serve", "default", "--audit", place});
    EXPECT_EQ(result.exit_code, 1) << place;
    EXPECT_THAT(result.error, HasSubstr("--audit " + place + " lies in " + root)) << place;
    EXPECT_FALSE(fs::exists(place)) << place;
  }
  EXPECT_FALSE(fs::exists(Path("new-profile")));
}

}  // namespace
}  // namespace integration
