#include "commands/audit_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace commands {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Given {
  std::string tool = "read_file";
  json arguments = {{"path", "/work/a"}};
  bool started = true;
  mcp::Outcome outcome = mcp::ToolResult();
};

mcp::CallRecord RecordOf(const Given& given) {
  using namespace std::chrono_literals;
  return {.received = std::chrono::system_clock::time_point(1'769'860'800'007ms),
          .duration = 12ms,
          .tool = given.tool,
          .arguments = given.arguments,
          .started = given.started,
          .outcome = given.outcome};
}

json LineOf(const Given& given) {
  const std::string line = AuditLine(RecordOf(given));
  EXPECT_THAT(line, EndsWith("\n"));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  return json::parse(line);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<json> Lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

json ArgumentsOf(const json& arguments) {
  return LineOf({.arguments = arguments})["arguments"];
}

TEST(AuditLine, HasTimeToolArgumentsOutcomeAndDuration) {
  EXPECT_EQ(LineOf({}), json({{"time", "2026-01-31T12:00:00.007Z"},
                              {"tool", "read_file"},
                              {"arguments", {{"path", "/work/a"}}},
                              {"outcome", "succeeded"},
                              {"duration_ms", 12}}));
}

TEST(AuditLine, DistinguishesFailedRefusedAndCancelled) {
  const json failed = LineOf({.outcome = mcp::ToolFailure{"file does not exist"}});
  EXPECT_EQ(failed["outcome"], "failed");
  EXPECT_EQ(failed["error"], "file does not exist");
  const json refused = LineOf({.started = false, .outcome = mcp::ToolFailure{"bad arguments"}});
  EXPECT_EQ(refused["outcome"], "refused");
  const json unknown =
      LineOf({.started = false,
              .outcome = mcp::ProtocolError(mcp::ErrorCode::kInvalidParams, "unknown tool")});
  EXPECT_EQ(unknown["outcome"], "refused");
  EXPECT_EQ(unknown["error"], "unknown tool");
  EXPECT_EQ(LineOf({.outcome = mcp::Cancelled{}})["outcome"], "cancelled");
}

TEST(AuditLine, HasExitCodeAndErrorOfACommandButNotItsOutput) {
  const json line =
      LineOf({.outcome = mcp::ToolResult{
                  .content = mcp::PlainText{"secret"}, .exit_code = 3, .error = "exit status 3"}});
  EXPECT_EQ(line["outcome"], "succeeded");
  EXPECT_EQ(line["exit_code"], 3);
  EXPECT_EQ(line["error"], "exit status 3");
  EXPECT_THAT(line.dump(), Not(HasSubstr("secret")));
}

TEST(AuditLine, IsOneValidLineWhateverTheBytes) {
  const json line = LineOf({.tool = "a\nb\xff",
                            .arguments = {{"command", {"\x1b[2J\n\r\xe2\x80\xa8", "\xff\xfe"}}},
                            .outcome = mcp::ToolFailure{"line\nbreak \xff"}});
  EXPECT_EQ(line["error"], "line\nbreak \xEF\xBF\xBD");
}

TEST(AuditLine, CutsLongStringsBetweenCharacters) {
  const std::string longest(kMaximumAuditText, 'x');
  EXPECT_EQ(ArgumentsOf({{"content", longest}}), json({{"content", longest}}));
  EXPECT_EQ(ArgumentsOf({{"content", longest + "yz"}}),
            json({{"content", longest + "… [2 more bytes]"}}));
  const std::string shorter = longest.substr(1);
  EXPECT_EQ(ArgumentsOf({"a", shorter + "€ and more"}), json({"a", shorter + "… [12 more bytes]"}));
  EXPECT_THAT(ArgumentsOf({"\xff" + longest}).at(0).get<std::string>(),
              EndsWith("x… [1 more bytes]"));
}

TEST(AuditLine, CutsTheTextOfManyArguments) {
  json members = json::object();
  for (int i = 0; i < 1000; ++i) members["key" + std::to_string(i)] = std::string(100'000, 'x');
  const json arguments = ArgumentsOf(members);
  EXPECT_THAT(arguments, StartsWith(R"({"key0":"xxx)"));
  EXPECT_THAT(arguments, EndsWith(" more bytes]"));
  EXPECT_LT(arguments.dump().size(), 2 * kMaximumAuditArguments);
}

TEST(AuditLog, CreatesTheFileForItsOwnerOnlyAndAppends) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "audit.jsonl";
  for (int server = 0; server < 2; ++server) AuditLog(path).OnCallEnded(RecordOf({}));
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(Lines(ReadFile(path)).size(), 2U);
}

TEST(AuditLog, SeveralServersAndThreadsShareAFile) {
  constexpr int kServers = 2;
  constexpr int kThreads = 4;
  constexpr int kCalls = 100;
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "audit.jsonl";
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<AuditLog>> logs;
  for (int i = 0; i < kServers; ++i) logs.push_back(std::make_unique<AuditLog>(path));
  const Given given{.arguments = {{"content", std::string(kMaximumAuditText, 'x')}}};
  for (int i = 0; i < kServers * kThreads; ++i) {
    threads.emplace_back([&log = *logs[static_cast<std::size_t>(i % kServers)], &given] {
      for (int call = 0; call < kCalls; ++call) log.OnCallEnded(RecordOf(given));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<json> lines = Lines(ReadFile(path));  // throws if two lines are mixed
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kServers * kThreads * kCalls));
}

TEST(AuditLog, CreatesAMovedOrRemovedFileAgain) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "audit.jsonl";
  const std::string rotated = directory.path() / "audit.jsonl.1";
  const std::string line = AuditLine(RecordOf({}));
  AuditLog log(path);
  log.OnCallEnded(RecordOf({}));
  ASSERT_EQ(::rename(path.c_str(), rotated.c_str()), 0);
  for (int record = 0; record < 2; ++record) log.OnCallEnded(RecordOf({}));
  EXPECT_EQ(ReadFile(rotated), line);
  EXPECT_EQ(ReadFile(path), line + line);
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  log.OnCallEnded(RecordOf({}));
  EXPECT_EQ(ReadFile(path), line);
}

TEST(AuditLog, LinkThatTakesTheFilesPlaceIsNotFollowed) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "audit.jsonl";
  const std::string other = directory.path() / "other";
  std::ofstream(other) << "not a record\n";
  AuditLog log(path);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::symlink(other.c_str(), path.c_str()), 0);
  ::testing::internal::CaptureStderr();
  for (int record = 0; record < 2; ++record) log.OnCallEnded(RecordOf({}));
  const std::string logged = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << logged;
  EXPECT_EQ(ReadFile(other), "not a record\n");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  log.OnCallEnded(RecordOf({}));
  EXPECT_EQ(ReadFile(path), AuditLine(RecordOf({})));
}

TEST(AuditLog, NamesAFileThatCannotBeOpened) {
  try {
    AuditLog("/no/such/directory/audit");
    FAIL() << "no exception";
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), StartsWith("--audit /no/such/directory/audit: cannot be opened"));
  }
}

// An unread pipe stands for a full disk: it takes part of a line, then nothing.
TEST(AuditLog, ReportsFailingWritesOncePerChange) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(AuditLog{path}, support::CallError) << "a FIFO without a reader";
  const support::FileDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.valid());
  AuditLog log(path);
  const Given given{.arguments = {{"content", std::string(kMaximumAuditText, 'x')}}};

  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 10'000; ++i) log.OnCallEnded(RecordOf(given));
  const std::string full = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(full.begin(), full.end(), '\n'), 1) << full;
  EXPECT_THAT(full, HasSubstr("calls continue without a record"));

  std::array<char, 65'536> buffer{};
  while (::read(reader.get(), buffer.data(), buffer.size()) > 0) {
  }
  ::testing::internal::CaptureStderr();
  log.OnCallEnded(RecordOf(given));
  log.OnCallEnded(RecordOf(given));
  const std::string fixed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(fixed.begin(), fixed.end(), '\n'), 1) << fixed;
  EXPECT_THAT(fixed, HasSubstr("records lost: "));
}

}  // namespace
}  // namespace commands
