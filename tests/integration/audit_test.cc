// `serve --audit FILE`: a record of every call.

#include <gmock/gmock.h>

#include <set>

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

TEST_F(Audit, AnswersDoNotGoIntoTheFileWhereStandardOutputIsClosed) {
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

TEST_F(Audit, ServersAppendToTheSameFileAndCallsMayRunAtOnce) {
  constexpr int kCalls = 40;
  MakeFile("audit.jsonl", "{\"before\":true}\n");
  ServeWithAudit(file);
  testing_support::McpClient& first = client();
  ServeWithAudit(file);
  std::vector<std::int64_t> ids;
  const auto send = [this](testing_support::McpClient& server, int call) {
    return server.SendRequest(
        "tools/call",
        {{"name", "read_file"}, {"arguments", {{"path", root + "/" + std::to_string(call)}}}});
  };
  for (int i = 0; i < kCalls; ++i) {
    ids.push_back(send(first, i));
    ids.push_back(send(client(), kCalls + i));
  }
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    first.WaitForResponse(ids[i]);
    client().WaitForResponse(ids[i + 1]);
  }
  std::set<std::string> paths;
  for (const json& record : Records()) {
    if (record.contains("arguments")) paths.insert(record["arguments"].at("path"));
  }
  EXPECT_EQ(paths.size(), 2U * kCalls);
  EXPECT_EQ(Records().front(), json({{"before", true}}));
}

TEST_F(Audit, FailingWriteIsReportedOnceAndStopsNoCall) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << Skipping("this machine has no /dev/full");
  ServeWithAudit("/dev/full");
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(client().CloseAndWait(), 0);
  const std::string& log = client().log();
  const std::size_t reported = log.find("--audit /dev/full: cannot be written");
  ASSERT_NE(reported, std::string::npos) << log;
  EXPECT_EQ(log.find("--audit", reported + 1), std::string::npos) << log;
}

TEST_F(Audit, LinkThatTheAgentMayHavePutInTheFilesPlaceIsNotFollowed) {
  MakeFile("profile", "the user's own\n");
  fs::create_directory(Path("elsewhere"));
  fs::create_symlink(Path("profile"), root + "/to-a-file");
  fs::create_symlink(Path("new-profile"), root + "/to-nothing");
  fs::create_directory_symlink(Path("elsewhere"), root + "/to-a-directory");
  for (const std::string link : {"/to-a-file", "/to-nothing", "/to-a-directory/audit.jsonl"}) {
    const auto result = RunServer({"serve", "default", "--audit", root + link});
    EXPECT_EQ(result.exit_code, 1) << link;
    EXPECT_THAT(result.error, HasSubstr("which the agent may have put in " + root)) << link;
  }
  EXPECT_EQ(ReadFile(Path("profile").string()), "the user's own\n");
  EXPECT_FALSE(fs::exists(Path("new-profile")));
  EXPECT_TRUE(fs::is_empty(Path("elsewhere")));
}

TEST_F(Audit, FileMayLieInAMountAndALinkOfTheUsersElsewhere) {
  fs::create_directory(Path("elsewhere"));
  fs::create_symlink(Path("elsewhere/audit.jsonl"), Path("audit.jsonl"));
  for (const std::string& place : {root + "/audit.jsonl", file}) {
    EXPECT_EQ(RunServer({"serve", "default", "--audit", place}).exit_code, 0) << place;
    EXPECT_EQ(ReadFile(place), "") << place;
    EXPECT_TRUE(fs::exists(place)) << place;
  }
}

TEST_F(Audit, FileThatCannotBeOpenedEndsTheProgramWithOneLine) {
  const auto result = RunServer({"serve", "default", "--audit", root + "/none/audit"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("--audit " + root + "/none/audit: cannot be opened"));
  EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
}

}  // namespace
}  // namespace integration
