#include "commands/audit_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "support/errors.h"
#include "support/sha256.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace commands {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing_support::ReadFile;

struct Given {
  std::string tool = "read_file";
  json arguments = {{"path", "/work/a"}};
  mcp::CallStatus status = mcp::CallStatus::kSucceeded;
  std::optional<int> exit_code = {};
  std::string error = {};
};

mcp::ObservedCall CallOf(const Given& given) {
  using namespace std::chrono_literals;
  return {.number = 7,
          .received = std::chrono::system_clock::time_point(1'769'860'800'007ms),
          .tool = given.tool,
          .arguments = given.arguments};
}

mcp::Outcome EndOf(const Given& given) {
  return {.status = given.status,
          .response = {},
          .exit_code = given.exit_code,
          .error = given.error,
          .duration = std::chrono::milliseconds(12)};
}

std::string EndLine(const Given& given) {
  const mcp::Outcome end = EndOf(given);
  return AuditLine(CallOf(given), &end);
}

void RecordEnd(AuditLog& log, const Given& given = {}) {
  const mcp::Outcome end = EndOf(given);
  log.Record(CallOf(given), &end);
}

json LineOf(const Given& given) {
  const std::string line = EndLine(given);
  EXPECT_THAT(line, EndsWith("\n"));
  EXPECT_TRUE(std::all_of(line.begin(), line.end() - 1, [](char c) {
    return c >= ' ' && c <= '~';
  })) << line;
  return json::parse(line);
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

TEST(AuditLine, NamesEachOutcome) {
  EXPECT_EQ(LineOf({.status = mcp::CallStatus::kFailed})["outcome"], "failed");
  EXPECT_EQ(LineOf({.status = mcp::CallStatus::kRefused})["outcome"], "refused");
  EXPECT_EQ(LineOf({.status = mcp::CallStatus::kCancelled})["outcome"], "cancelled");
}

TEST(AuditLine, IsOneAsciiLineWhateverTheBytes) {
  // Escapes, a line separator, C1's CSI, right-to-left override, a tag character, no UTF-8.
  const json command = {"\x1b[2J\n\r\x7f\u2028", "\u009b2J", "\u202e", "\U000E0041", "\xff\xfe"};
  const json line = LineOf({.tool = "a\nb\u202e\xff",
                            .arguments = {{"command", command}, {"\u202e", 1}},
                            .error = "line\nbreak \u009b \xff"});
  EXPECT_EQ(line["error"], "line\nbreak \u009b \uFFFD");
  EXPECT_EQ(line["arguments"]["command"][1], "\u009b2J");
  EXPECT_EQ(line["arguments"]["command"][4], "\uFFFD\uFFFD");
}

TEST(AuditLine, KeepsACommandWhole) {
  const json command = {"bash", "-c", std::string(10'000, ' ') + "rm -rf ~"};
  EXPECT_EQ(ArgumentsOf({{"command", command}})["command"], command);
  const std::string longest(kMaxAuditArgument, 'x');
  EXPECT_EQ(ArgumentsOf({{"input", longest}})["input"], longest);
  const json words = json::array({longest.substr(4)});  // its JSON has four more bytes
  EXPECT_EQ(ArgumentsOf({{"command", words}})["command"], words);
}

TEST(AuditLine, KeepsTheEndsAndTheDigestOfALongerArgument) {
  const std::string text =
      std::string(kMaxAuditArgument, 'x') + "\"hidden\"" + std::string(8'000, 'y') + "end";
  const json input = ArgumentsOf({{"input", text}})["input"];
  EXPECT_EQ(input["head"], text.substr(0, kMaxAuditArgument / 2));
  EXPECT_EQ(input["tail"], text.substr(text.size() - kMaxAuditArgument / 2));
  EXPECT_EQ(input["bytes"], text.size());
  EXPECT_EQ(input["sha256"], support::Sha256(text));
  const json command = ArgumentsOf({{"command", {"bash", text}}})["command"];
  EXPECT_EQ(command["sha256"], support::Sha256(json({"bash", text}).dump()));
}

TEST(AuditLine, CutsContentsBetweenCharacters) {
  const std::string longest(kMaxAuditText, 'x');
  for (const std::string name : {"content", "old_string", "new_string"}) {
    EXPECT_EQ(ArgumentsOf({{name, longest}})[name], longest);
    EXPECT_EQ(ArgumentsOf({{name, longest + "yz"}})[name], longest + "… [2 more bytes]");
  }
  const std::string shorter = longest.substr(1);
  EXPECT_EQ(ArgumentsOf({{"content", shorter + "€ and more"}})["content"],
            shorter + "… [12 more bytes]");
  EXPECT_THAT(ArgumentsOf({{"content", "\xff" + longest}})["content"].get<std::string>(),
              EndsWith("x… [1 more bytes]"));
}

TEST(AuditLine, AbridgesTheTextOfManyArguments) {
  json members = json::object();
  for (int i = 0; i < 200; ++i) members["key" + std::to_string(i)] = std::string(10'000, 'x');
  const json arguments = ArgumentsOf(members);
  EXPECT_THAT(arguments["head"].get<std::string>(), StartsWith(R"({"key0":"xxx)"));
  EXPECT_LT(arguments.dump().size(), 2 * kMaxAuditArgument);
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
  const Given given{.arguments = {{"content", std::string(kMaxAuditText, 'x')}}};
  for (int i = 0; i < kServers * kThreads; ++i) {
    threads.emplace_back([&log = *logs[static_cast<std::size_t>(i % kServers)], &given] {
      for (int call = 0; call < kCalls; ++call) RecordEnd(log, given);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<json> lines = Lines(ReadFile(path));  // throws if two lines are mixed
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kServers * kThreads * kCalls));
}

TEST(AuditLog, NamesAFileThatCannotBeOpened) {
  EXPECT_THAT([] { AuditLog("/no/such/directory/audit"); },
              ::testing::ThrowsMessage<support::CallError>(
                  StartsWith("--audit /no/such/directory/audit: cannot be opened")));
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
  const Given given{.arguments = {{"content", std::string(kMaxAuditText, 'x')}}};

  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 10'000; ++i) RecordEnd(log, given);
  const std::string full = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(full.begin(), full.end(), '\n'), 1) << full;
  EXPECT_THAT(full, HasSubstr("calls continue without a record"));

  std::array<char, 65'536> buffer{};
  while (::read(reader.get(), buffer.data(), buffer.size()) > 0) {
  }
  ::testing::internal::CaptureStderr();
  RecordEnd(log, given);
  RecordEnd(log, given);
  const std::string fixed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(fixed.begin(), fixed.end(), '\n'), 1) << fixed;
  EXPECT_THAT(fixed, HasSubstr("records lost: "));
}

}  // namespace
}  // namespace commands
