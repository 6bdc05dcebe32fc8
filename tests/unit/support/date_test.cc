#include "support/date.h"

#include <gtest/gtest.h>

namespace support {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

TEST(Date, IsRfc3339InUtcWithMilliseconds) {
  EXPECT_EQ(FormatDate(system_clock::time_point(milliseconds(1'769'860'800'007))),
            "2026-01-31T12:00:00.007Z");
}

TEST(Date, BeforeTheEpochCountsForwardToo) {
  EXPECT_EQ(FormatDate(system_clock::time_point(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace support
