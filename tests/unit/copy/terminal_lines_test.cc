#include <gtest/gtest.h>

#include <string>

#include "copy/copy.h"

namespace copy {
namespace {

std::string Lines(const std::string& text) {
  std::string rest;
  return TerminalLines(text, rest);
}

TEST(TerminalLines, ColourLinesByTheirFirstCharacters) {
  EXPECT_EQ(Lines("+new\n-old\n same\n@@ -1 +1 @@\n"),
            "\x1b[32m+new\x1b[m\n\x1b[31m-old\x1b[m\n same\n\x1b[36m@@ -1 +1 @@\x1b[m\n");
}

TEST(TerminalLines, PassNoControlCharacters) {
  EXPECT_EQ(Lines(" a\x1b]0;title\x07\tb\r\n"), " a\\x1b]0;title\\x07\tb\\x0d\n");
}

TEST(TerminalLines, KeepAnIncompleteLine) {
  std::string rest;
  EXPECT_EQ(TerminalLines(" one\n t", rest), " one\n");
  EXPECT_EQ(TerminalLines("wo\n", rest), " two\n");
}

TEST(TerminalLines, CutLongLines) {
  std::string rest;
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TerminalLines(piece, rest), "");
  EXPECT_LT(rest.size(), piece.size());
  EXPECT_EQ(TerminalLines("\n", rest), std::string(4096, 'x') + "...\n");
}

}  // namespace
}  // namespace copy
