#include "support/printable.h"

#include <gtest/gtest.h>

namespace support {
namespace {

TEST(Printable, EscapesWhatDrivesATerminalOrEndsALine) {
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f"), "a\\x1b[2Jb\\x0ac\\x7f");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, KeepsTextAsItIs) {
  EXPECT_EQ(Printable("/home/zoë \\x00"), "/home/zoë \\x00");
  EXPECT_EQ(Printable(""), "");
}

}  // namespace
}  // namespace support
