// `serve --audit FILE`: a record of every call.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

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

TEST_F(Audit, EveryCallIsALineInAFileForItsOwnerOnly) {
  ServeWithAudit(file);
  Read(root + "/a.txt");
  Refusal("read_file", {{"path", "/etc/passwd"}});
  Refusal("read_file", {{"path", 7}});
  client().Request("tools/call", {{"name", "no_such_tool"}, {"arguments", {{"a", 1}}}});

  EXPECT_EQ(ModeOf(file), 0600U);
  const std::vector<json> records = Records();
  ASSERT_EQ(records.size(), 4U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_THAT(records[i].at("time").get<std::string>(),
                MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"));
    EXPECT_EQ(records[i].at("number"), i + 1);
    EXPECT_GE(records[i].at("duration_ms").get<int>(), 0);
  }
  EXPECT_EQ(records[0].at("tool"), "read_file");
  EXPECT_EQ(records[0].at("arguments"), json({{"path", root + "/a.txt"}}));
  EXPECT_EQ(records[0].at("outcome"), "succeeded");
  EXPECT_EQ(records[1].at("outcome"), "failed");
  EXPECT_THAT(records[1].at("error").get<std::string>(), HasSubstr("/etc/passwd is outside"));
  EXPECT_EQ(records[2].at("outcome"), "refused");
  EXPECT_EQ(records[2].at("arguments"), json({{"path", 7}}));
  EXPECT_EQ(records[3].at("tool"), "no_such_tool");
  EXPECT_EQ(records[3].at("outcome"), "refused");
}

TEST_F(Audit, ACallThatMayChangeSomethingHasALineBeforeItStarts) {
  ServeWithAudit(file);
  Write(root + "/b.txt", "text");
  Call("run_shell_command", {{"command", {"cp", file, root + "/seen"}}, {"directory", root}});
  Call("run_shell_command", {{"command", {"sh", "-c", "exit 3"}}, {"directory", root}});
  EXPECT_THAT(ReadFile(root + "/seen"), HasSubstr(R"("arguments":{"command":["cp",)"));

  const std::vector<json> records = Records();
  ASSERT_EQ(records.size(), 6U);
  for (std::size_t i = 0; i < records.size(); i += 2) {
    EXPECT_EQ(records[i].at("outcome"), "started");
    EXPECT_EQ(records[i + 1].at("outcome"), "succeeded");
    for (const char* key : {"pid", "number", "tool", "arguments"}) {
      EXPECT_EQ(records[i].at(key), records[i + 1].at(key)) << key;
    }
  }
  EXPECT_EQ(records[5].at("exit_code"), 3);
  EXPECT_EQ(records[5].at("error"), "exit status 3");
}

// A tool's result has no JSON object for clients that get text.
TEST_F(Audit, EveryToolIsRecordedForAClientThatGetsText) {
  Serve({.arguments = {"default", "--results", "text", "--audit", file}});
  const auto call = [&](const std::string& tool, const json& arguments) {
    EXPECT_FALSE(client().CallTool(tool, arguments).value("isError", false)) << tool;
  };
  call("list_directory", {{"path", root}});
  call("glob", {{"pattern", "*"}, {"path", ""}});
  call("search_file_content", {{"pattern", "text"}, {"path", nullptr}, {"include", ""}});
  call("read_file", {{"path", root + "/a.txt"}});
  call("run_shell_command", {{"command", {"false"}}, {"directory", root}});
  const std::vector<json> records = Records();
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[5].at("exit_code"), 1);
  EXPECT_EQ(records[5].at("error"), "exit status 1");
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
  Write(root + "/a.txt", std::string(100'000, 'x'));
  const json arguments = Records().at(0).at("arguments");
  EXPECT_EQ(arguments.at("content"), std::string(512, 'x') + "… [99488 more bytes]");
}

TEST_F(Audit, ResultThatIsTooLargeIsRecordedAsTheFailureThatTheClientGot) {
  MakeFile("root/large.txt", std::string(std::size_t{16} << 20, 'x'));
  ServeWithAudit(file);
  const std::string refusal = Refusal("read_file", {{"path", root + "/large.txt"}});
  EXPECT_EQ(Records().at(0).at("outcome"), "failed");
  EXPECT_THAT(refusal, StartsWith(Records().at(0).at("error").get<std::string>().substr(0, 200)));
}

/// Starts a command that does not end, and waits until it runs.
std::int64_t StartEndlessCommand(testing_support::McpClient& client, const std::string& root) {
  const std::int64_t id = client.SendRequest(
      "tools/call",
      {{"name", "run_shell_command"},
       {"arguments",
        {{"command", {"sh", "-c", "echo > started; exec sleep 300"}}, {"directory", root}}}});
  while (!fs::exists(root + "/started")) client.Request("ping");
  return id;
}

TEST_F(Audit, CancelledCallsAreRecorded) {
  ServeWithAudit(file);
  const std::int64_t id = StartEndlessCommand(client(), root);
  client().SendNotification("notifications/cancelled", {{"requestId", id}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (Records().size() < 2 && std::chrono::steady_clock::now() < deadline) {
    client().Request("ping");
  }
  ASSERT_EQ(Records().size(), 2U);
  EXPECT_EQ(Records()[1].at("outcome"), "cancelled");
}

TEST_F(Audit, AKilledServerLeavesARecord) {
  ServeWithAudit(file);
  StartEndlessCommand(client(), root);
  ForgetServer();
  ASSERT_EQ(Records().size(), 1U);
  EXPECT_EQ(Records()[0].at("outcome"), "started");
  EXPECT_EQ(Records()[0].at("arguments").at("command").at(2), "echo > started; exec sleep 300");
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
