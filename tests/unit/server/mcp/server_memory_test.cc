// SPDX-License-Identifier: Apache-2.0
// How much memory a client can make the server use, on systems that can measure it.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "testing/sanitizers.h"
#include "unit/server/mcp/server_session.h"

namespace mcp {
namespace {

using nlohmann::json;

#ifdef __linux__
// The sanitizers use memory of their own.
constexpr bool kMeasureMemory =
    !testing_support::kAddressSanitizer && !testing_support::kThreadSanitizer;
#else
constexpr bool kMeasureMemory = false;  // no peak that can be reset
#endif

std::size_t ReadStatus(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
  }
  return 0;
}

/// How much the memory of this process has grown since construction, in MiB.
class MemoryGrowth {
 public:
  MemoryGrowth() {
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    begin_ = ReadStatus("VmRSS:");
  }
  [[nodiscard]] std::size_t peak() const { return Since(ReadStatus("VmHWM:")); }
  [[nodiscard]] std::size_t now() const { return Since(ReadStatus("VmRSS:")); }

 private:
  [[nodiscard]] std::size_t Since(std::size_t bytes) const {
    return bytes <= begin_ ? 0 : (bytes - begin_) / kMiB;
  }
  std::size_t begin_;
};

void ExpectPeakBelow(const MemoryGrowth& memory, std::size_t mebibytes, const char* what) {
  if (!kMeasureMemory) return;
  const std::size_t peak = memory.peak();
  ::testing::Test::RecordProperty(what, std::to_string(peak) + " MiB");
  EXPECT_LT(peak, mebibytes) << what;
}

void SendRepeated(Session& session, std::string_view piece, std::size_t bytes) {
  std::string chunk;
  while (chunk.size() < 60'000) chunk += piece;
  for (std::size_t sent = 0; sent < bytes; sent += chunk.size()) session.Send(chunk);
}

TEST(ServerMemory, ALargeLineIsFreedOnceItIsAnswered) {
  Session session;
  session.ExpectPingIsAnswered();
  const MemoryGrowth memory;
  session.Send(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":")");
  SendRepeated(session, "x", 15 * kMiB);
  session.Send("\"}}\n");
  EXPECT_EQ(session.Read()["id"], 1);
  session.ExpectPingIsAnswered();
  ExpectPeakBelow(memory, 128, "a line of 15 MiB");
  if (kMeasureMemory) {
    EXPECT_LT(memory.now(), 16U);
  }
}

TEST(ServerMemory, WhatIsRefusedIsBounded) {
  const std::string values = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[)";
  const struct {
    const char* what;
    std::string begin;
    const char* repeated;
    std::size_t bytes;
    const char* end;
    int code;
    std::size_t peak;
  } cases[] = {
      {"a line of 200 MiB", "", "[", 200 * kMiB, "", -32700, 160},
      {"bad JSON of 8 MiB", "[\"", "[", 8 * kMiB, "", -32700, 128},
      {"bad JSON of 8 MiB", "[\"", "\"", 8 * kMiB, "", -32700, 128},
      {"bad JSON of 8 MiB", "[\"", "\\u0000", 8 * kMiB, "", -32700, 128},
      {"millions of values", values, "0,", 2 * kMiB, "0]}}", -32600, 256},
      {"millions of values", values, "[],", 2 * kMiB, "0]}}", -32600, 256},
      {"millions of values", values, "{\"a\":{}},", 2 * kMiB, "0]}}", -32600, 256},
  };
  for (const auto& line : cases) {
    Session session;
    session.ExpectPingIsAnswered();
    const MemoryGrowth memory;
    session.Send(line.begin);
    SendRepeated(session, line.repeated, line.bytes);
    session.Send(std::string(line.end) + "\n");
    EXPECT_EQ(session.Read()["error"]["code"], line.code) << line.what;
    session.ExpectPingIsAnswered();
    ExpectPeakBelow(memory, line.peak, line.what);
  }
}

TEST(ServerMemory, AClientThatDoesNotReadCannotMakeItGrow) {
  Session session;
  session.Initialize();
  const MemoryGrowth memory;
  constexpr int kCalls = 150;
  // Each answer is two MiB: 300 together.
  for (int i = 0; i < kCalls; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  for (int i = 0; i < kCalls; ++i) EXPECT_GT(session.ReadLine()->size(), 2 * kMiB);
  ExpectPeakBelow(memory, 192, "150 answers of 2 MiB");
}

}  // namespace
}  // namespace mcp
