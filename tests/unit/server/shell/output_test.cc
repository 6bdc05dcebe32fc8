// SPDX-License-Identifier: Apache-2.0
// What becomes of the output of commands and processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "shell/command_output.h"
#include "shell/output_log.h"
#include "shell/resident_script.h"
#include "support/errors.h"

namespace shell {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  CommandOutput output(100, true, [&](std::string text) { shown = std::move(text); });
  EXPECT_EQ(shown, "waiting for the guest to start the command");
  output.OnQueued("1 command runs (make, 5 s)");
  EXPECT_EQ(shown, "waiting: 1 command runs (make, 5 s)");
  output.OnStarted();
  EXPECT_EQ(shown, "running, no output yet");
  for (const auto& [bytes, line] :
       std::vector<std::pair<std::string, std::string>>{{"\n", "running, no output yet"},
                                                        {"one\ntw", "tw"},
                                                        {"o\n\n", "two"},
                                                        {"\tx", " x"},
                                                        {"\n 10%\r 20%\x1B[K\r", " 20%"},
                                                        {" 30%", " 30%"},
                                                        {"\r\n", " 30%"}}) {
    output.OnOutput(Stream::kError, bytes);
    EXPECT_EQ(shown, line);
  }
  output.OnStarted();
  EXPECT_EQ(shown, " 30%") << "the guest was faster than the sender";
}

/// The text of `bytes`, which is the same whatever their pieces are.
std::string Text(const std::string& bytes) {
  std::string first;
  for (const std::size_t piece : {bytes.size() + 1, std::size_t{1}, std::size_t{3}}) {
    RedrawnLines lines;
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      text += lines.Add(std::string_view(bytes).substr(at, piece));
    text += lines.Finish();
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << "in pieces of " << piece;
  }
  return first;
}

/// A bar of so many states, with `separator` before or behind each.
std::string Bar(int states, const std::string& separator, bool before) {
  std::string bar;
  for (int i = 1; i <= states; ++i) {
    const std::string state = "state " + std::to_string(i);
    bar += before ? separator + state : state + separator;
  }
  return bar;
}

TEST(RedrawnLines, AreWholeIfTheyAreShort) {
  for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"one\ntwo", "one\ntwo"},
           {"one\r\ntwo\r\n\r\n", "one\r\ntwo\r\n\r\n"},
           {"one\r\r\ntwo\r\r\n", "one\r\ntwo\r\n"},
           {"id,name\r1,ann\r2,bob\r", "id,name\\r1,ann\\r2,bob\\r"},
           {"-one\rtwo\r\n+one\r2\r\n", "-one\\rtwo\r\n+one\\r2\r\n"},
           {"10%\r20%\r\x1B[K\n", "10%\\r20%\\r\x1B[K\n"},
           {"\r10%\xFF", "\\r10%\xFF"},
           {"\x1B[2K\x1B[1G10%\x1B[2K\x1B[1G20%\n", "\x1B[2K\x1B[1G10%\x1B[2K\x1B[1G20%\n"},
           {std::string(2000, 'x') + "\r\n", std::string(2000, 'x') + "\r\n"},
           {std::string(1990, 'x') + "\rsecond\n", std::string(1990, 'x') + "\\rsecond\n"},
           {std::string(20'000, 'x') + "\r\n", std::string(20'000, 'x') + "\r\n"},
       }) {
    EXPECT_EQ(Text(bytes), text);
  }
}

TEST(RedrawnLines, HaveTheFirstAndTheLastStateIfTheyAreLong) {
  for (const std::string separator : {"\r", "\x1B[2K\x1B[1G", "\r\x1B[K", "\r\r"}) {
    for (const bool before : {true, false}) {
      const std::string text = "state 1\n[… 4998 earlier states of this line]\nstate 5000";
      EXPECT_EQ(Text(Bar(5000, separator, before)), text);
      EXPECT_EQ(Text("x\n" + Bar(5000, separator, before) + "\ny\r\n"), "x\n" + text + "\ny\r\n");
    }
  }
  const std::string half(1500, 'x');
  EXPECT_EQ(Text(half + "\r" + half + "y\r\n"), half + "\n" + half + "y\n") << "nothing between";
  const std::string much(3000, 'x');
  EXPECT_EQ(Text("a\r" + much + "\rb\n"), "a\n" + much + "\\rb\n");
  EXPECT_EQ(Text(Bar(3000, "\r", false) + "   \r\v\r\n"),
            "state 1\n[… 2999 earlier states of this line]\n   \n");
}

TEST(RedrawnLines, DoNotKeepMuch) {
  RedrawnLines lines;
  std::size_t size = 0;
  for (int i = 0; i < 1000; ++i) size += lines.Add(std::string(1000, 'x')).size();
  EXPECT_GT(size, 980'000U);
  size += lines.Add("\n").size();
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(lines.Add("\r" + std::to_string(i)).size(), 0U);
  EXPECT_EQ(lines.Finish(), "0\n[… 99998 earlier states of this line]\n99999");
  size = 0;
  for (int i = 0; i < 100; ++i) size += lines.Add(std::string(1000, '\r')).size();
  EXPECT_GT(size, 190'000U) << "each is shown as two characters";
}

TEST(CommandOutput, HasRedrawnLinesOrEveryByte) {
  const std::string bytes = Bar(5000, "\r", false);
  const std::string text = "state 1\n[… 4998 earlier states of this line]\nstate 5000";
  for (const bool is_exact : {true, false}) {
    CommandOutput output(std::size_t{1} << 20, is_exact, [](const std::string&) {});
    CutOutputs outputs;
    output.OnOutput(Stream::kOutput, bytes);
    output.OnOutput(Stream::kError, bytes + "\n");
    const auto [standard_output, standard_error] = output.Finish(outputs);
    EXPECT_EQ(standard_output, is_exact ? bytes : text);
    EXPECT_EQ(standard_error, (is_exact ? bytes : text) + "\n");
  }
}

constexpr std::size_t kAll = 1000;

TEST(OutputLog, IsReadByOffset) {
  OutputLog log(100);
  log.Add("one ");
  log.Add("two");
  EXPECT_EQ(log.Read(0, kAll).text, "one two");
  const OutputLog::Piece piece = log.Read(4, 2);
  EXPECT_EQ(piece.text, "tw");
  EXPECT_EQ(piece.end, 6U);
  EXPECT_EQ(piece.dropped, 0U);
  EXPECT_EQ(piece.remaining, 1U);
  EXPECT_EQ(log.Resolve({}), 6U) << "where the last read ended";
  EXPECT_EQ(log.Read(99, kAll).text, "");
  EXPECT_EQ(log.Read(99, kAll).end, 7U);
}

TEST(OutputLog, KeepsTheNewestBytesAndCountsTheOthers) {
  OutputLog log(8);
  for (int i = 0; i < 10; ++i) log.Add("0123456789");
  log.Add("abcdefgh");
  const OutputLog::Piece piece = log.Read(90, kAll);
  EXPECT_EQ(piece.text.substr(piece.text.size() - 8), "abcdefgh");
  EXPECT_EQ(piece.dropped + piece.text.size(), 18U);
  EXPECT_EQ(piece.end, 108U);
  EXPECT_LE(piece.text.size(), 9U);
}

TEST(OutputLog, CountsNegativeOffsetsFromTheEnd) {
  OutputLog log(8);
  log.Add("abcd");
  EXPECT_EQ(log.Resolve(-3), 1U);
  EXPECT_EQ(log.Resolve(-9), 0U);
  EXPECT_EQ(log.Resolve(2), 2U);
  log.Add("\xE2\x82\xAC!");
  EXPECT_EQ(log.Read(log.Resolve(-3), kAll).text, "!") << "not from the middle of a character";
}

TEST(OutputLog, HoldsBackACharacterUntilItIsWhole) {
  OutputLog log(100);
  log.Add("a\xE2\x82");
  EXPECT_EQ(log.readable(), 1U);
  EXPECT_EQ(log.Read(0, kAll).text, "a");
  log.Add("\xAC");
  EXPECT_EQ(log.Read(1, kAll).text, "\xE2\x82\xAC");
  EXPECT_EQ(log.Read(0, 3).text, "a");
  EXPECT_EQ(log.Read(0, 4).text, "a\xE2\x82\xAC");
  log.Add("\xF0\x9F");
  log.Finish();
  EXPECT_EQ(log.Read(4, kAll).text, "\xF0\x9F");
  EXPECT_EQ(log.Read(4, kAll).end, 6U);
}

TEST(OutputLog, AlwaysReadsOn) {
  OutputLog log(100);
  log.Add("\xE2\x82\xAC\x80\x80\x80\x80\xFF");
  EXPECT_EQ(log.readable(), 8U) << "no character begins here";
  EXPECT_EQ(log.Read(0, 1).end, 1U);
}

TEST(CutOutputs, KeepTheLastFew) {
  CutOutputs outputs;
  for (std::size_t i = 1; i <= CutOutputs::kMaxKept + 1; ++i) {
    OutputLog log(100);
    log.Add("output " + std::to_string(i));
    EXPECT_EQ(outputs.Keep(std::move(log)), "c" + std::to_string(i));
  }
  EXPECT_EQ(outputs.Read("c5", 7).text, "5");
  EXPECT_EQ(outputs.Read("c5", {}).text, "");
  EXPECT_EQ(outputs.Read("c2", {}).text, "output 2");
  EXPECT_THAT([&] { outputs.Read("c1", {}); },
              ThrowsMessage<support::Error>(HasSubstr("kept are c2, c3, c4, c5")));
}

/// The output of a splitter that gets `stream` in pieces; reports in angle brackets.
std::string Split(std::string_view stream, std::size_t piece) {
  ReportSplitter splitter("MARK");
  std::string seen;
  const auto on_output = [&](std::string_view own) { seen += own; };
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    splitter.Feed(stream.substr(at, piece), on_output,
                  [&](std::string_view words) { seen.append("<").append(words).append(">"); });
  }
  splitter.Finish(on_output);
  return seen;
}

TEST(ReportSplitter, FindsReportsInAnyPieces) {
  const std::string longest(600, 'x');
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ""},
      {"MARK\n", "<>"},
      {"MARK ready\n", "<ready>"},
      {"outMARK ended 3\nMARK idle\nlate", "out<ended 3><idle>late"},
      {"MARMARK 0\n", "MAR<0>"},
      {"MMAMARMARK\nMAR", "MMAMAR<>MAR"},
      {"MARK" + longest, longest},
      {"MARK 0", "MARK 0"},
  };
  for (const auto& [stream, expected] : cases) {
    for (std::size_t piece = 1; piece <= stream.size() + 1; ++piece) {
      EXPECT_EQ(Split(stream, piece), expected) << stream << " in pieces of " << piece;
    }
  }
}

TEST(ReportSplitter, HoldsBackOnlyTheBeginningOfAReport) {
  ReportSplitter splitter("MARK");
  std::string seen;
  splitter.Feed(
      "progress 5% MA", [&](std::string_view own) { seen += own; }, [](std::string_view) {});
  EXPECT_EQ(seen, "progress 5% ");
}

}  // namespace
}  // namespace shell
