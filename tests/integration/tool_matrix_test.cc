// SPDX-License-Identifier: Apache-2.0
// Every tool in both result styles and protocol eras, with and without --audit: it succeeds, fails,
// is refused, and is cancelled.

#include <algorithm>
#include <csignal>
#include <map>
#include <regex>

#include "integration/fixture.h"
#include "mcp/schema.h"

namespace integration {
namespace {

/// How a server is started and addressed: --results, the client's name, era, --audit.
std::vector<std::string> Columns() {
  std::vector<std::string> columns;
  for (const std::string style :
       {"auto_claude", "auto_unknown", "structured_claude", "text_unknown"}) {
    for (const std::string era : {"_legacy", "_modern"}) {
      for (const std::string audit : {"", "_audit"}) columns.push_back(style + era + audit);
    }
  }
  return columns;
}

/// One tool. Arguments are JSON, with $R for the root.
struct Row {
  std::string tool;
  std::string success;
  std::string text;  ///< in the text style's success
  std::string failure;
  std::string problem;        ///< in the text of the failure
  std::string cancelled;      ///< a call that waits until it is cancelled
  bool changes = false;       ///< runs or writes something, so that its start is recorded too
  int exit_code = -1;         ///< of the success; -1: none
  std::string error = {};     ///< of the success: why the command did not
  std::string pid_file = {};  ///< which a process of the cancelled call writes
};

// p1 sleeps and ignores INT; p2 is the process of the row of start_process.
const std::vector<Row>& Rows() {
  static const std::string elsewhere = R"({"command":["true"],"directory":"/elsewhere"})";
  static const std::vector<Row> rows = {
      {"start_process",
       R"({"command":["sh","-c","echo begun; exec cat"],"directory":"$R","wait_ms":0})",
       "[p2 running", elsewhere, "/elsewhere is outside",
       R"({"command":["sh","-c","echo $$ >p.new; mv p.new p; exec sleep 300"],"directory":"$R",)"
       R"("wait_ms":30000})",
       true, -1, "", "p"},
      {"run_shell_command", R"({"command":["sh","-c","echo out; exit 3"],"directory":"$R"})",
       "out\n[exit status 3]", elsewhere, "/elsewhere is outside",
       R"({"command":["sh","-c","echo $$ >c.new; mv c.new c; exec sleep 300"],"directory":"$R"})",
       true, 3, "exit status 3", "c"},
      {"read_process", R"({"id":"p2","offset":0,"wait_ms":30000})", "begun\n[p2 running",
       R"({"id":"p99"})", "no process p99", R"({"id":"p1","wait_ms":30000})"},
      {"glob", R"({"pattern":"a.*","path":"$R"})", "/a.txt",
       R"({"pattern":"*","path":"/elsewhere"})", "/elsewhere is outside",
       R"({"pattern":"*","path":"$R"})"},
      {"list_directory", R"({"path":"$R"})", " a.txt\n", R"({"path":"$R/missing"})",
       "missing does not exist", R"({"path":"$R"})"},
      {"read_file", R"({"path":"$R/a.txt"})", "some text\n", R"({"path":"$R/missing"})",
       "file does not exist", R"({"path":"$R/a.txt"})"},
      {"replace", R"({"path":"$R/r.txt","old_string":"old","new_string":"new"})",
       "[replacements: 1]", R"({"path":"$R/r.txt","old_string":"absent","new_string":"x"})",
       "found 0 times", R"({"path":"$R/r.txt","old_string":"new","new_string":"late"})", true},
      {"search_file_content", R"({"pattern":"ome","path":"$R"})", "a.txt:1:some text",
       R"({"pattern":"(","path":"$R"})", "(", R"({"pattern":"ome","path":"$R"})"},
      // The audit file has no such letters, directions, controls and tags.
      {"write_file", R"({"path":"$R/b.txt","content":"ä\u202e\u009b\udb40\udc41"})", "[written]",
       R"({"path":"b.txt","content":""})", "expected an absolute path",
       R"({"path":"$R/late.txt","content":"late"})", true},
      // Last, because it waits for only a second.
      {"write_process", R"({"id":"p2","end_input":true})", "[p2 exited with 0]",
       R"({"id":"p99","end_input":true})", "no process p99", R"({"id":"p1","signal":"INT"})", true,
       0}};
  return rows;
}

class ToolMatrix : public IntegrationTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "some text\n");
    MakeFile("root/r.txt", "old\n");
    StartRoot();
    ServeOptions options = {.initialize = false};
    options.arguments.push_back("--results=" + GetParam().substr(0, GetParam().find('_')));
    if (audit_) options.arguments.push_back("--audit=" + audit_file_);
    Serve(options);
    const std::string name = Has("claude") ? "claude-code" : "unknown";
    Has("modern") ? client().SpeakModern(name) : void(client().Initialize("2025-11-25", name));
    for (const json& tool : ListTools()) tools_[tool.at("name")] = tool;
  }

  static bool Has(const std::string& word) { return GetParam().find(word) != std::string::npos; }
  json ListTools() { return client().Request("tools/list").at("result").at("tools"); }
  [[nodiscard]] json ArgumentsOf(const std::string& text) const {
    return json::parse(std::regex_replace(text, std::regex("\\$R"), root));
  }

  void ExpectAnswers() {
    EXPECT_EQ(client().Request("ping").at("result"), json::object());
    EXPECT_EQ(ListTools().size(), tools_.size());
  }

  json CallTool(const Row& row, const std::string& arguments) {
    const json result = client().CallTool(row.tool, ArgumentsOf(arguments));
    EXPECT_EQ(result.value("resultType", ""), Has("modern") ? "complete" : "") << result;
    ExpectAnswers();
    return result;
  }

  void ExpectSuccess(const Row& row) {
    const json result = CallTool(row, row.success);
    const std::string text = TextOf(result);
    ASSERT_FALSE(result.value("isError", false)) << text;
    const json& tool = tools_[row.tool];
    const bool is_text = Has("text") || Has("auto_claude");
    EXPECT_NE(tool.contains("outputSchema"), is_text);
    ASSERT_NE(result.contains("structuredContent"), is_text) << result;
    if (is_text) {
      EXPECT_THAT(text, HasSubstr(row.text));
    } else {
      const json& structured = result["structuredContent"];
      EXPECT_EQ(json::parse(text), structured);
      EXPECT_EQ(mcp::FindSchemaError(tool.at("outputSchema"), structured), std::nullopt);
      EXPECT_EQ(structured.value("exit_code", -1), row.exit_code);
      EXPECT_EQ(structured.value("error", ""), row.error);
    }
    ExpectRecorded(row, "succeeded", row.exit_code, row.error);
  }

  void ExpectFailure(const Row& row, const std::string& arguments, const std::string& problem,
                     const std::string& outcome) {
    const json result = CallTool(row, arguments);
    EXPECT_TRUE(result.value("isError", false)) << result;
    EXPECT_FALSE(result.contains("structuredContent")) << result;
    EXPECT_THAT(TextOf(result), HasSubstr(problem));
    ExpectRecorded(row, outcome, -1, TextOf(result));
  }

  /// The records after those that TakeRecords has returned.
  [[nodiscard]] std::vector<json> Records() const {
    std::vector<json> records;
    const auto lines = audit_ ? LinesOf(ReadFile(audit_file_)) : std::vector<std::string>();
    for (std::size_t i = taken_; i < lines.size(); ++i) records.push_back(json::parse(lines[i]));
    return records;
  }
  std::vector<json> TakeRecords() {
    std::vector<json> records = Records();
    taken_ += records.size();
    return records;
  }

  void ExpectRecorded(const Row& row, const std::string& outcome, int exit_code,
                      const std::string& error) {
    if (!audit_) return;
    const std::vector<json> records = TakeRecords();
    ExpectOneCall(row, records, outcome, row.changes && outcome != "refused");
    EXPECT_EQ(records.back().value("exit_code", -1), exit_code);
    EXPECT_EQ(records.back().value("error", ""), error);
  }

  static void ExpectOneCall(const Row& row, const std::vector<json>& records,
                            const std::string& outcome, bool has_start) {
    ASSERT_EQ(records.size(), has_start ? 2U : 1U);
    for (const json& record : records) {
      EXPECT_EQ(record.at("tool"), row.tool);
      EXPECT_EQ(record.at("number"), records.front().at("number"));
      EXPECT_EQ(record.at("outcome"), &record == &records.back() ? outcome : "started");
    }
  }

  void ExpectCancelsRecorded() {
    if (!audit_) return;
    EXPECT_TRUE(Eventually([&] {
      const std::vector<json> records = Records();
      return std::count_if(records.begin(), records.end(), [](const json& record) {
               return record.at("outcome") == "cancelled";
             }) == std::ssize(Rows());
    }));
    std::map<std::string, std::vector<json>> records;
    for (const json& record : TakeRecords()) records[record.at("tool")].push_back(record);
    for (const Row& row : Rows()) {
      SCOPED_TRACE(row.tool);
      // The call of write_process may have been cancelled before it started.
      const bool not_started = row.tool == "write_process" && records[row.tool].size() == 1;
      ExpectOneCall(row, records[row.tool], "cancelled", row.changes && !not_started);
    }
  }

  /// Sends the call that waits; returns its id once it certainly waits.
  std::int64_t Begin(const Row& row) {
    const std::int64_t id = client().BeginCall(row.tool, ArgumentsOf(row.cancelled));
    if (row.tool == "write_process") return id;
    EXPECT_TRUE(Eventually([&] {
      const std::vector<json> records = Records();
      const bool is_recorded = !records.empty() && records.back().at("tool") == row.tool;
      return (row.pid_file.empty() || fs::exists(root + "/" + row.pid_file)) &&
             (!audit_ || !row.changes || is_recorded);
    })) << row.tool;
    return id;
  }

  /// Stops or continues the guest's SFTP servers.
  void SignalFileServers(int signal) {
    int signalled = 0;
    for (const auto& process : GuestProcesses(Instance())) {
      if (process.command.find("sftp-server") == std::string::npos) continue;
      ::kill(process.pid, signal);
      ++signalled;
    }
    ASSERT_GT(signalled, 0);
  }

  const bool audit_ = Has("audit");
  const std::string audit_file_ = Path("audit.jsonl").string();
  std::map<std::string, json> tools_;  // what the server lists, by name
  std::size_t taken_ = 0;              // records
};

TEST_P(ToolMatrix, EveryToolSucceedsFailsAndIsCancelled) {
  ASSERT_EQ(tools_.size(), Rows().size());
  client().CallTool(
      "start_process",
      ArgumentsOf(R"({"command":["sh","-c","trap '' INT; exec sleep 300"],"directory":"$R"})"));
  TakeRecords();
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.tool);
    ExpectSuccess(row);
    ExpectFailure(row, row.failure, row.problem, "failed");
    ExpectFailure(row, R"({"unknown":1})", "validating \"arguments\": ", "refused");
  }

  std::vector<std::int64_t> calls;
  for (const Row& row : Rows()) {
    if (row.tool == "glob") SignalFileServers(SIGSTOP);
    calls.push_back(Begin(row));
  }
  std::for_each(calls.rbegin(), calls.rend(), [&](std::int64_t id) { client().Cancel(id); });
  ExpectAnswers();
  ExpectCancelsRecorded();
  SignalFileServers(SIGCONT);
  EXPECT_TRUE(EndsSoon(root + "/c"));
  EXPECT_TRUE(EndsSoon(root + "/p"));
  client().CallTool("list_directory", {{"path", root}});  // after all that had been sent
  EXPECT_EQ(ReadFile(root + "/r.txt"), "new\n");
  EXPECT_FALSE(fs::exists(root + "/late.txt"));
  EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
  EXPECT_THROW(ADD_FAILURE() << "a second answer: " << client().NextMessage(), std::runtime_error);
  for (const char byte : audit_ ? ReadFile(audit_file_) : "") {
    ASSERT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~')) << static_cast<int>(byte);
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, ToolMatrix, ::testing::ValuesIn(Columns()),
                         [](const auto& column) { return column.param; });

}  // namespace
}  // namespace integration
