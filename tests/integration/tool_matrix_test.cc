// Every tool in both result styles and protocol eras, with and without --audit: it succeeds, fails,
// is refused, and is cancelled.

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>

#include "integration/fixture.h"
#include "mcp/schema.h"
#include "testing/eventually.h"
#include "testing/guest_processes.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using testing_support::EndsSoon;
using testing_support::Eventually;
using testing_support::TextOf;

/// How one server is started and addressed.
struct Column {
  std::string results;  ///< of --results
  std::string client;   ///< its name
  bool is_text = false;
  bool audit = false;
  bool modern = false;
};

std::vector<Column> Columns() {
  std::vector<Column> columns;
  for (const bool audit : {false, true}) {
    for (const bool modern : {false, true}) {
      columns.push_back({"auto", "claude-code", true, audit, modern});
      columns.push_back({"auto", "unknown", false, audit, modern});
      columns.push_back({"structured", "claude-code", false, audit, modern});
      columns.push_back({"text", "unknown", true, audit, modern});
    }
  }
  return columns;
}

std::string NameOf(const Column& column) {
  return column.results + (column.client == "unknown" ? "ToUnknown" : "ToClaude") +
         (column.modern ? "Modern" : "Legacy") + (column.audit ? "Audited" : "");
}
void PrintTo(const Column& column, std::ostream* stream) {
  *stream << NameOf(column);
}

/// One tool.
struct Row {
  std::string tool;
  json success;
  std::string text;  ///< in content[0] of the success, in the text style
  json failure;
  std::string problem;   ///< in the text of the failure
  json cancelled;        ///< a call that waits until it is cancelled
  bool changes = false;  ///< runs or writes something, so that its start is recorded too
  std::optional<int> exit_code = {};
  std::string error = {};     ///< of the success: why the command did not
  std::string pid_file = {};  ///< which a process of the cancelled call writes
};

/// Not ASCII: a letter, a direction, a control character, a tag.
const std::string kForeign = "\u00e4\u202e\u009b\U000e0041";

std::vector<Row> Rows(const std::string& root) {
  const auto shell = [&](const std::string& script, int wait = -1) {
    json arguments = {{"command", {"sh", "-c", script}}, {"directory", root}};
    if (wait >= 0) arguments["wait_ms"] = wait;
    return arguments;
  };
  const json elsewhere = {{"command", {"true"}}, {"directory", "/elsewhere"}};
  const std::string outside = "/elsewhere is outside";
  const json a = {{"path", root + "/a.txt"}};
  const json r = {{"path", root + "/r.txt"}};
  const json missing = {{"path", root + "/missing"}};
  const auto with = [](json object, const json& more) {
    object.update(more);
    return object;
  };
  // write_process comes last: a call of it waits only for a second.
  return {
      {"start_process",
       shell("echo begun; exec cat", 0),
       "[p2 running",
       elsewhere,
       outside,
       shell("echo $$ >p.new; mv p.new p; exec sleep 300", 30'000),
       true,
       {},
       "",
       root + "/p"},
      {"run_shell_command", shell("echo out; exit 3"), "out\n[exit status 3]", elsewhere, outside,
       shell("echo $$ >c.new; mv c.new c; exec sleep 300"), true, 3, "exit status 3", root + "/c"},
      {"read_process",
       {{"id", "p2"}, {"offset", 0}, {"wait_ms", 30'000}},
       "begun\n[p2 running",
       {{"id", "p99"}},
       "no process p99",
       {{"id", "p1"}, {"wait_ms", 30'000}}},
      {"glob",
       {{"pattern", "a.*"}, {"path", root}},
       root + "/a.txt",
       {{"pattern", "*"}, {"path", "/elsewhere"}},
       outside,
       {{"pattern", "*"}, {"path", root}}},
      {"list_directory",
       {{"path", root}},
       " a.txt\n",
       missing,
       root + "/missing does not exist",
       {{"path", root}}},
      {"read_file", a, "some text\n", missing, "file does not exist", a},
      {"replace", with(r, {{"old_string", "old"}, {"new_string", "new"}}), "",
       with(r, {{"old_string", "absent"}, {"new_string", "b"}}), "found 0 times",
       with(r, {{"old_string", "new"}, {"new_string", "late"}}), true},
      {"search_file_content",
       {{"pattern", "ome"}, {"path", root}},
       "a.txt:1:some text",
       {{"pattern", "("}, {"path", root}},
       "(",
       {{"pattern", "ome"}, {"path", root}}},
      {"write_file",
       {{"path", root + "/b.txt"}, {"content", kForeign}},
       "",
       {{"path", "b.txt"}, {"content", ""}},
       "expected an absolute path",
       {{"path", root + "/late.txt"}, {"content", "late"}},
       true},
      {"write_process",
       {{"id", "p2"}, {"end_input", true}},
       "[p2 exited with 0]",
       {{"id", "p99"}, {"end_input", true}},
       "no process p99",
       {{"id", "p1"}, {"signal", "INT"}},
       true,
       0}};
}

class ToolMatrix : public IntegrationTest, public ::testing::WithParamInterface<Column> {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "some text\n");
    MakeFile("root/r.txt", "old\n");
    StartInstance({{root_, "", true}});
    ServeOptions options = {.arguments = {"default", "--results", column_.results},
                            .initialize = false};
    if (column_.audit) options.arguments.insert(options.arguments.end(), {"--audit", audit_file_});
    Serve(options);
    if (column_.modern) {
      client().SpeakModern(column_.client);
    } else {
      client().Initialize("2025-11-25", column_.client);
    }
    for (const json& tool : ListTools()) tools_[tool.at("name")] = tool;
  }

  json ListTools() { return client().Request("tools/list").at("result").at("tools"); }

  std::int64_t Send(const std::string& tool, const json& arguments) {
    return client().SendRequest("tools/call", {{"name", tool}, {"arguments", arguments}});
  }

  /// The result of a call that is not cancelled, and its lines in the audit file.
  json CallAndCheck(const Row& row, const json& arguments) {
    const json result = client().CallTool(row.tool, arguments);
    EXPECT_EQ(result.value("resultType", ""), column_.modern ? "complete" : "") << result;
    ExpectAnswers();
    return result;
  }

  void ExpectAnswers() {
    EXPECT_EQ(client().Request("ping").at("result"), json::object());
    EXPECT_EQ(ListTools().size(), tools_.size());
  }

  void ExpectSuccess(const Row& row) {
    const json result = CallAndCheck(row, row.success);
    const std::string text = TextOf(result);
    ASSERT_FALSE(result.value("isError", false)) << text;
    // What has no text style keeps its schema and its structured content.
    const bool is_text = column_.is_text && !row.text.empty();
    EXPECT_NE(tools_[row.tool].contains("outputSchema"), is_text);
    ASSERT_NE(result.contains("structuredContent"), is_text) << result;
    if (is_text) {
      EXPECT_THAT(text, HasSubstr(row.text));
    } else {
      const json& structured = result["structuredContent"];
      EXPECT_EQ(json::parse(text), structured);
      EXPECT_EQ(mcp::FindSchemaError(tools_[row.tool].at("outputSchema"), structured), std::nullopt)
          << structured;
      EXPECT_EQ(structured.value("exit_code", -1), row.exit_code.value_or(-1));
      EXPECT_EQ(structured.value("error", ""), row.error);
    }
    ExpectRecorded(row, "succeeded", row.error);
  }

  void ExpectFailure(const Row& row, const json& arguments, const std::string& problem,
                     const std::string& outcome) {
    const json result = CallAndCheck(row, arguments);
    EXPECT_TRUE(result.value("isError", false)) << result;
    EXPECT_FALSE(result.contains("structuredContent")) << result;
    EXPECT_THAT(TextOf(result), HasSubstr(problem));
    ExpectRecorded(row, outcome, TextOf(result));
  }

  [[nodiscard]] std::vector<json> Records() const {
    std::vector<json> records;
    if (!column_.audit) return records;
    for (const std::string& line : LinesOf(ReadFile(audit_file_))) {
      records.push_back(json::parse(line));
    }
    return records;
  }

  /// Checks the records that were added by one call.
  void ExpectRecorded(const Row& row, const std::string& outcome, const std::string& error) {
    if (!column_.audit) return;
    std::vector<json> records = Records();
    records.erase(records.begin(), records.begin() + std::ssize(seen_));
    seen_.insert(seen_.end(), records.begin(), records.end());
    ExpectCallRecorded(row, records, outcome);
    const json& end = records.back();
    const bool has_code = outcome == "succeeded" && row.exit_code;
    EXPECT_EQ(end.value("exit_code", -1), has_code ? *row.exit_code : -1);
    EXPECT_EQ(end.value("error", ""), error);
  }

  static void ExpectCallRecorded(const Row& row, const std::vector<json>& records,
                                 const std::string& outcome) {
    ASSERT_EQ(records.size(), row.changes && outcome != "refused" ? 2U : 1U);
    for (const json& record : records) {
      EXPECT_EQ(record.at("tool"), row.tool);
      EXPECT_EQ(record.at("number"), records.front().at("number"));
      EXPECT_EQ(record.at("outcome"), &record == &records.back() ? outcome : "started");
    }
  }

  /// Waits for the record of a start, so that the call is not cancelled before.
  void AwaitStart(const Row& row) {
    if (!column_.audit || !row.changes) return;
    EXPECT_TRUE(Eventually([&] {
      const std::vector<json> records = Records();
      return std::any_of(records.begin() + std::ssize(seen_), records.end(),
                         [&](const json& record) { return record.at("tool") == row.tool; });
    }));
  }

  void ExpectCancelsRecorded(const std::vector<Row>& rows) {
    if (!column_.audit) return;
    std::map<std::string, std::vector<json>> records;
    EXPECT_TRUE(Eventually([&] {
      records.clear();
      std::size_t ended = 0;
      for (const json& record : Records()) {
        if (std::count(seen_.begin(), seen_.end(), record) > 0) continue;
        records[record.at("tool")].push_back(record);
        if (record.at("outcome") != "started") ++ended;
      }
      return ended == rows.size();
    }));
    for (Row row : rows) {
      SCOPED_TRACE(row.tool);
      // A call of write_process may be cancelled before it starts.
      if (row.tool == "write_process" && records[row.tool].size() == 1) row.changes = false;
      ExpectCallRecorded(row, records[row.tool], "cancelled");
    }
  }

  /// Stops or continues the guest's SFTP servers.
  void SignalFileServers(int signal) {
    int signalled = 0;
    for (const auto& process : testing_support::GuestProcesses(Instance())) {
      if (process.command.find("sftp-server") == std::string::npos) continue;
      ::kill(process.pid, signal);
      ++signalled;
    }
    ASSERT_GT(signalled, 0);
  }

  const Column& column_ = GetParam();
  const std::string root_ = Path("root").string();
  const std::string audit_file_ = Path("audit.jsonl").string();
  std::map<std::string, json> tools_;  // what the server lists, by name
  std::vector<json> seen_;             // records that have been checked
};

TEST_P(ToolMatrix, EveryToolSucceedsFailsAndIsCancelled) {
  const std::vector<Row> rows = Rows(root_);
  ASSERT_EQ(tools_.size(), rows.size());
  // p1, for the calls that wait. It ignores INT.
  client().CallTool("start_process", {{"command", {"sh", "-c", "trap '' INT; exec sleep 300"}},
                                      {"directory", root_}});
  seen_ = Records();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.tool);
    ExpectSuccess(row);
    ExpectFailure(row, row.failure, row.problem, "failed");
    ExpectFailure(row, {{"unknown", 1}}, "validating \"arguments\": ", "refused");
  }

  std::vector<std::int64_t> calls;
  for (const Row& row : rows) {
    if (row.tool == "glob") SignalFileServers(SIGSTOP);
    calls.push_back(Send(row.tool, row.cancelled));
    if (row.tool == "write_process") break;
    EXPECT_TRUE(row.pid_file.empty() || Eventually([&] { return fs::exists(row.pid_file); }));
    AwaitStart(row);
  }
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    client().SendNotification("notifications/cancelled", {{"requestId", *call}});
  }
  ExpectAnswers();
  ExpectCancelsRecorded(rows);
  SignalFileServers(SIGCONT);
  for (const Row& row : rows) {
    EXPECT_TRUE(row.pid_file.empty() || EndsSoon(row.pid_file)) << row.tool;
  }
  client().CallTool("list_directory", {{"path", root_}});  // after what had been sent
  EXPECT_EQ(ReadFile(root_ + "/r.txt"), "new\n");
  EXPECT_FALSE(fs::exists(root_ + "/late.txt"));
  EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
  EXPECT_THROW(ADD_FAILURE() << "second answer: " << client().NextMessage(0ms), std::runtime_error);
  if (!column_.audit) return;
  for (const char byte : ReadFile(audit_file_)) {
    ASSERT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~')) << static_cast<int>(byte);
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, ToolMatrix, ::testing::ValuesIn(Columns()),
                         [](const auto& column) { return NameOf(column.param); });

}  // namespace
}  // namespace integration
