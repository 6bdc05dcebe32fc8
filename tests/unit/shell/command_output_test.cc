#include "shell/command_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace shell {
namespace {

std::string TextOf(std::size_t maximum, std::string_view bytes, std::size_t piece) {
  CappedOutput output(maximum);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    output.Add(bytes.substr(0, piece));
  }
  return output.Text();
}

TEST(CappedOutput, LeavesOutTheMiddleAboveTheLimit) {
  struct Case {
    std::size_t maximum;
    std::string bytes;
    std::string text;
  };
  const std::string invalid(4, '\x80');
  for (const auto& [maximum, bytes, text] : std::vector<Case>{
           {8, "", ""},
           {8, "abcdefgh", "abcdefgh"},
           {8, "abcdXfghi", "abcd\n[… 1 bytes left out …]\nfghi"},
           {18, "one\ntwo\nthree\nfour\nfive\nsix\n",
            "one\ntwo\n[… 11 bytes left out …]\nfive\nsix\n"},
           {8, "ab\n\nXXXXX\nfgh\n", "ab\n\n[… 6 bytes left out …]\nfgh\n"},
           {8, "abcäXXXXXXXXäfgh", "abc\n[… 12 bytes left out …]\nfgh"},
           {8, std::string(20, '\x80'), invalid + "\n[… 15 bytes left out …]\n\x80"}}) {
    EXPECT_EQ(TextOf(maximum, bytes, 3), text);
  }
}

TEST(CappedOutput, IsTheSameForAnyPieces) {
  std::string bytes;
  for (int line = 0; line < 1000; ++line) bytes += "line " + std::to_string(line) + "\n";
  const std::string whole = TextOf(1000, bytes, bytes.size());
  for (const std::size_t piece : {1U, 7U, 64U, 499U, 500U, 501U, 1000U, 1001U, 5000U}) {
    EXPECT_EQ(TextOf(1000, bytes, piece), whole) << piece;
  }
}

TEST(CappedOutput, CountsTheBytesLeftOut) {
  CappedOutput output(4);
  for (int i = 0; i < 1000; ++i) output.Add(std::string(1000, 'x'));
  EXPECT_EQ(output.Text(), "xx\n[… 999996 bytes left out …]\nxx");
}

TEST(CommandOutput, ShowsWhatItWaitsForAndThenTheLastLine) {
  std::string shown;
  CommandOutput output(100, [&](std::string text) { shown = std::move(text); });
  EXPECT_EQ(shown, "waiting for the guest to start the command");
  output.OnQueued();
  EXPECT_EQ(shown, "waiting for its turn: too many commands are running");
  output.OnStarted();
  EXPECT_EQ(shown, "running, no output yet");
  for (const auto& [bytes, line] : std::vector<std::pair<std::string, std::string>>{
           {"\n", "running, no output yet"}, {"one\ntw", "tw"}, {"o\n\n", "two"}, {"\tx", " x"}}) {
    output.OnOutput(Stream::kError, bytes);
    EXPECT_EQ(shown, line);
  }
  output.OnStarted();
  EXPECT_EQ(shown, " x") << "the guest was faster than the sender";
}

}  // namespace
}  // namespace shell
