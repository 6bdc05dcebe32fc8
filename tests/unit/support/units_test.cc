#include "support/units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace support {
namespace {

using std::chrono::milliseconds;

TEST(ParseDuration, ReadsEachUnitAndTheirSumsUpToAThousandHours) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {
      {"0", 0},          {"250ms", 250},   {"90s", 90'000},        {"10m", 600'000},
      {"1h", 3'600'000}, {"1m0s", 60'000}, {"1h30m5s", 5'405'000}, {"1000h", 3'600'000'000}};
  for (const auto& [text, count] : cases) EXPECT_EQ(ParseDuration(text), milliseconds(count));
  for (const char* text : {"", "10", "m", "-1s", "1.5h", "1d", "1h ", " 1h", "1hh",
                           "99999999999999999999s", "1000h1ms", "1001h"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(FormatDuration, PrintsAsGoDoes) {
  EXPECT_EQ(FormatDuration(milliseconds(540'000)), "9m0s");
  EXPECT_EQ(FormatDuration(milliseconds(3'600'000)), "1h0m0s");
  EXPECT_EQ(FormatDuration(milliseconds(45'000)), "45s");
  EXPECT_EQ(FormatDuration(milliseconds(1'050)), "1.050s");
  EXPECT_EQ(FormatDuration(milliseconds(0)), "0s");
}

TEST(ParseByteCount, ReadsPlainNumbersAndUnits) {
  const std::vector<std::pair<const char*, std::uint64_t>> cases = {
      {"262144", 262144}, {"256K", 262144},     {"256KiB", 262144},
      {"1M", 1048576},    {"2GiB", 2147483648}, {"0", 0}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(ParseByteCount(text), bytes);
  for (const char* text :
       {"", "K", "-1", "1.5M", "1KB", "1 K", "18446744073709551616", "18446744073709551615K"}) {
    EXPECT_EQ(ParseByteCount(text), std::nullopt) << text;
  }
}

TEST(FormatByteCount, NamesTheLargestUnitThatDividesEvenly) {
  EXPECT_EQ(FormatByteCount(262144), "262144 bytes (256 KiB)");
  EXPECT_EQ(FormatByteCount(33554432), "33554432 bytes (32 MiB)");
  EXPECT_EQ(FormatByteCount(1000), "1000 bytes");
  EXPECT_EQ(FormatByteCount(0), "0 bytes");
}

TEST(FormatDate, IsRfc3339InUtcWithMilliseconds) {
  const auto date = [](std::int64_t since_epoch) {
    return FormatDate(std::chrono::system_clock::time_point(milliseconds(since_epoch)));
  };
  EXPECT_EQ(date(1'769'860'800'007), "2026-01-31T12:00:00.007Z");
  EXPECT_EQ(date(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace support
