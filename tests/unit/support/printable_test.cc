#include "support/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace support {
namespace {

TEST(Printable, EscapesWhatIsNotSafeForATerminal) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      // control characters
      {"a\x1b[2Jb\nc\x7f", "a\\x1b[2Jb\\x0ac\\x7f"},
      {std::string(1, '\0'), "\\x00"},
      {"a\u0080\u009b2J\u009fb\u00a0", "a\\xc2\\x80\\xc2\\x9b2J\\xc2\\x9fb\u00a0"},
      // marks of direction, and their neighbours
      {"\u202a\u202e\u2066\u2069", "\\xe2\\x80\\xaa\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
      {"\u2029\u202f\u2065\u206a", "\u2029\u202f\u2065\u206a"},
      // not UTF-8
      {"a\x9b\xff z\xc3", "a\\x9b\\xff z\\xc3"},
      {"/home/zoë \\x00 日本 🙂", "/home/zoë \\x00 日本 🙂"},
      {"", ""}};
  for (const auto& [text, printable] : cases) EXPECT_EQ(Printable(text), printable);
}

TEST(Printable, KeepsTheCharactersThatItIsTold) {
  EXPECT_EQ(Printable("a\n\tb\r\x1b", "\n\t"), "a\n\tb\\x0d\\x1b");
}

}  // namespace
}  // namespace support
