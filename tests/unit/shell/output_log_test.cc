#include "shell/output_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

namespace shell {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  EXPECT_EQ(log.Read(4, kAll).text, "\xEF\xBF\xBD\xEF\xBF\xBD");
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
              ThrowsMessage<support::CallError>(HasSubstr("kept are c2, c3, c4, c5")));
}

}  // namespace
}  // namespace shell
