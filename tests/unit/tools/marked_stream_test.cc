#include "tools/marked_stream.h"

#include <gtest/gtest.h>

#include <string>

namespace tools {
namespace {

constexpr std::size_t kMaximum = 1024;

TEST(MarkedStream, EndsAtTheMark) {
  MarkedStream stream("MARK", MarkedStream::Header::kNone, kMaximum);
  EXPECT_EQ(stream.Add("out\nMARK\nlater"), "out\n");
  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(stream.Add("later still"), "");
  EXPECT_EQ(stream.output().Text(), "out\n");
}

TEST(MarkedStream, EndsAtAMarkThatFollowsAnUnfinishedLine) {
  MarkedStream stream("MARK", MarkedStream::Header::kNone, kMaximum);
  stream.Add("no line endMARK\n");
  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(stream.output().Text(), "no line end");
}

TEST(MarkedStream, FindsHeaderAndMarkWhereverThePiecesAreCut) {
  const std::string bytes = "banner\nMARK 4711\nMAMARxMARK\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    MarkedStream stream("MARK", MarkedStream::Header::kExpected, kMaximum);
    for (std::size_t at = 0; at < bytes.size(); at += piece) stream.Add(bytes.substr(at, piece));
    EXPECT_TRUE(stream.ended()) << piece;
    EXPECT_EQ(stream.process_group(), 4711) << piece;
    EXPECT_EQ(stream.output().Text(), "banner\nMAMARx") << piece;
  }
}

TEST(MarkedStream, ALineTooLongForAHeaderIsOutputWhereverThePiecesAreCut) {
  const std::string line = " 42" + std::string(60, ' ') + "x no-shell\n";
  for (std::size_t piece = 1; piece <= line.size() + 4; ++piece) {
    MarkedStream stream("MARK", MarkedStream::Header::kExpected, kMaximum);
    const std::string bytes = "MARK" + line;
    for (std::size_t at = 0; at < bytes.size(); at += piece) stream.Add(bytes.substr(at, piece));
    EXPECT_EQ(stream.process_group(), std::nullopt) << piece;
    EXPECT_FALSE(stream.shell_missing()) << piece;
    EXPECT_EQ(stream.output().Text(), line) << piece;
  }
}

TEST(MarkedStream, HoldsBackABeginningOfTheMarkOnlyUntilTheEnd) {
  MarkedStream stream("MARK", MarkedStream::Header::kNone, kMaximum);
  EXPECT_EQ(stream.Add("abcMA"), "abc");
  stream.Finish();
  EXPECT_FALSE(stream.ended());
  EXPECT_EQ(stream.output().Text(), "abcMA");
}

TEST(MarkedStream, TakesNoNumberButAProcessGroup) {
  for (const char* rest :
       {" \n", " 1\n", " 0\n", " -5\n", " 12x\n", " 99999999999999999999999\n"}) {
    MarkedStream stream("MARK", MarkedStream::Header::kExpected, kMaximum);
    stream.Add(std::string("MARK") + rest);
    EXPECT_EQ(stream.process_group(), std::nullopt) << rest;
  }
}

}  // namespace
}  // namespace tools
