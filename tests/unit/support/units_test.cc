#include "support/units.h"

#include <gtest/gtest.h>

namespace support {
namespace {

using std::chrono::milliseconds;

TEST(ParseDuration, ReadsEachUnitAndTheirSums) {
  EXPECT_EQ(ParseDuration("0"), milliseconds(0));
  EXPECT_EQ(ParseDuration("250ms"), milliseconds(250));
  EXPECT_EQ(ParseDuration("90s"), milliseconds(90'000));
  EXPECT_EQ(ParseDuration("10m"), milliseconds(600'000));
  EXPECT_EQ(ParseDuration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(ParseDuration("1h30m5s"), milliseconds(5'405'000));
  EXPECT_EQ(ParseDuration(FormatDuration(milliseconds(60'000))), milliseconds(60'000));
}

TEST(ParseDuration, RefusesInvalidDurations) {
  for (const char* text :
       {"", "10", "m", "-1s", "1.5h", "1d", "1h ", " 1h", "1hh", "99999999999999999999s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, EndsAtAThousandHours) {
  EXPECT_EQ(ParseDuration("1000h"), milliseconds(3'600'000'000));
  EXPECT_EQ(ParseDuration("1000h1ms"), std::nullopt);
  EXPECT_EQ(ParseDuration("1001h"), std::nullopt);
}

TEST(FormatDuration, PrintsAsGoDoes) {
  EXPECT_EQ(FormatDuration(milliseconds(540'000)), "9m0s");
  EXPECT_EQ(FormatDuration(milliseconds(3'600'000)), "1h0m0s");
  EXPECT_EQ(FormatDuration(milliseconds(45'000)), "45s");
  EXPECT_EQ(FormatDuration(milliseconds(1'050)), "1.050s");
  EXPECT_EQ(FormatDuration(milliseconds(0)), "0s");
}

TEST(ParseByteCount, ReadsPlainNumbersAndUnits) {
  EXPECT_EQ(ParseByteCount("262144"), 262144U);
  EXPECT_EQ(ParseByteCount("256K"), 262144U);
  EXPECT_EQ(ParseByteCount("256KiB"), 262144U);
  EXPECT_EQ(ParseByteCount("1M"), 1048576U);
  EXPECT_EQ(ParseByteCount("2GiB"), 2147483648U);
  EXPECT_EQ(ParseByteCount("0"), 0U);
}

TEST(ParseByteCount, RefusesInvalidByteCounts) {
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
