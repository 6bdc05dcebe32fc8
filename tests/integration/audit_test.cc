// `serve --audit FILE`: a record of every call. tool_matrix_test.cc checks those of every tool.

#include "integration/fixture.h"

namespace integration {
namespace {

class Audit : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "text");
    StartRoot();
  }

  void ServeWithAudit(const std::string& audit_file) {
    Serve({.arguments = {"default", "--audit", audit_file}});
  }

  const std::string file = Path("audit.jsonl").string();
};

// The first file to be opened would otherwise become standard output.
TEST_F(Audit, ResponsesDoNotGoIntoTheFileWhenStandardOutputIsClosed) {
  ChildProcess::Options options = ServerOptions({"serve", "default", "--audit", file});
  options.arguments.insert(options.arguments.begin(), {"sh", "-c", "exec \"$0\" \"$@\" >&-"});
  (void)RunProcess(options, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
  EXPECT_EQ(ReadFile(file), "");
}

TEST_F(Audit, AKilledServerLeavesARecord) {
  ServeWithAudit(file);
  const std::string copy = "cp '" + file + "' seen; echo >started; exec sleep 300";
  BeginShell(copy);
  Await("started");
  ForgetServer();  // killed
  EXPECT_EQ(ReadFile(file), ReadFile(root + "/seen"));
  const std::vector<std::string> records = LinesOf(ReadFile(file));
  ASSERT_EQ(records.size(), 1U);
  const json record = json::parse(records[0]);
  EXPECT_EQ(record.at("outcome"), "started");
  EXPECT_EQ(record.at("arguments").at("command").at(2), copy);
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
