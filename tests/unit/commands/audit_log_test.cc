// SPDX-License-Identifier: Apache-2.0
#include "commands/audit_log.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <sstream>
#include <thread>
#include <vector>

#include "support/errors.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace commands {
namespace {

using nlohmann::json;
using ::testing::EndsWith;

mcp::ObservedCall CallOf(const json& arguments, std::string_view tool = "write_file") {
  return {.number = 7, .received = {}, .tool = tool, .arguments = arguments};
}

void RecordLongLine(AuditLog& log) {
  const mcp::Outcome end = {.status = mcp::CallStatus::kSucceeded, .response = {}};
  log.Record(CallOf({{"content", std::string(kMaxAuditText, 'x')}}), &end);
}

json ArgumentsOf(const json& arguments) {
  return json::parse(AuditLine(CallOf(arguments), nullptr))["arguments"];
}

TEST(AuditLine, IsOneAsciiLineWhateverTheBytes) {
  // Escapes, a line separator, C1's CSI, right-to-left override, a tag character, no UTF-8.
  const json command = {"\x1b[2J\n\r\x7f\u2028", "\u009b2J", "\u202e", "\U000E0041", "\xff\xfe"};
  const mcp::Outcome end = {
      .status = mcp::CallStatus::kCancelled, .response = {}, .error = "line\nbreak \u009b \xff"};
  const std::string text =
      AuditLine(CallOf({{"command", command}, {"\u202e", 1}}, "a\nb\u202e\xff"), &end);
  EXPECT_THAT(text, ::testing::MatchesRegex("[ -~]*\n"));
  const json line = json::parse(text);
  EXPECT_EQ(line["outcome"], "cancelled");
  EXPECT_EQ(line["error"], "line\nbreak \u009b \uFFFD");
  EXPECT_EQ(line["arguments"]["command"][1], "\u009b2J");
  EXPECT_EQ(line["arguments"]["command"][4], "\uFFFD\uFFFD");
}

TEST(AuditLine, KeepsACommandWhole) {
  const json command = {"bash", "-c", std::string(1'000'000, ' ') + "rm -rf ~"};
  EXPECT_EQ(ArgumentsOf({{"command", command}})["command"], command);
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

TEST(AuditLog, SeveralServersAndThreadsShareAFile) {
  constexpr int kThreads = 4;  // of each server
  constexpr int kCalls = 100;
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "audit.jsonl";
  std::vector<std::thread> threads;
  std::array<AuditLog, 2> servers = {AuditLog(path), AuditLog(path)};
  for (AuditLog& log : servers) {
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&log] {
        for (int call = 0; call < kCalls; ++call) RecordLongLine(log);
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream stream(testing_support::ReadFile(path));
  std::size_t lines = 0;
  for (std::string line; std::getline(stream, line); ++lines) {
    EXPECT_TRUE(json::accept(line)) << "two lines are mixed: " << line;
  }
  EXPECT_EQ(lines, servers.size() * kThreads * kCalls);
}

TEST(AuditLog, RefusesAFifoWithoutAReader) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(AuditLog{path}, support::Error);
}

}  // namespace
}  // namespace commands
