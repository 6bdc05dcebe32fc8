#include "support/printable.h"

#include <gtest/gtest.h>

namespace support {
namespace {

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f"), "a\\x1b[2Jb\\x0ac\\x7f");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, EscapesControlCharactersBeyondAscii) {
  EXPECT_EQ(Printable("a\u0080\u009b2J\u009fb\u00a0"), "a\\xc2\\x80\\xc2\\x9b2J\\xc2\\x9fb\u00a0");
}

TEST(Printable, EscapesDirectionMarks) {
  EXPECT_EQ(Printable("\u202a\u202e\u2066\u2069"),
            "\\xe2\\x80\\xaa\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
  EXPECT_EQ(Printable("\u2029\u202f\u2065\u206a"), "\u2029\u202f\u2065\u206a");
}

TEST(Printable, EscapesInvalidUtf8) {
  EXPECT_EQ(Printable("a\x9b\xff z\xc3"), "a\\x9b\\xff z\\xc3");
}

TEST(Printable, KeepsOtherText) {
  EXPECT_EQ(Printable("/home/zoë \\x00 日本 🙂"), "/home/zoë \\x00 日本 🙂");
  EXPECT_EQ(Printable(""), "");
}

}  // namespace
}  // namespace support
