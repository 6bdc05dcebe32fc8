// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/runner/suite.h"
#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace suites {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::ProcessResult;
using testing_support::WriteFile;

TEST(SuiteLines, APlaceholderStandsForAnyTextAndAloneForAnyNumberOfLines) {
  const auto fits = [](const Lines& lines, const Lines& came) {
    return Compare(lines, came, lines).is_same;
  };
  EXPECT_TRUE(fits({"a<*>c<*>", "<*>."}, {"abc", "."}));
  EXPECT_FALSE(fits({"a<*>c"}, {"abcd"}));
  EXPECT_FALSE(fits({"abc"}, {"ab"}));
  EXPECT_TRUE(fits({"first", "<*>", "last"}, {"first", "last"}));
  EXPECT_TRUE(fits({"first", "<*>", "last"}, {"first", "2", "last", "last"}));
  EXPECT_FALSE(fits({"first", "<*>", "last"}, {"first", "2"}));
  EXPECT_FALSE(fits({}, {"more"}));
  EXPECT_FALSE(fits({"more"}, {}));
}

TEST(SuiteLines, WhatIsRewrittenKeepsThePlaceholdersAndVariablesThatFit) {
  const Comparison comparison = Compare({"port <*>", "Ann", "old", "<*>", "end"},
                                        {"port 22", "Ann", "new", "3", "end", "more"},
                                        {"port <*>", "$WHO", "old", "<*>", "end"});
  EXPECT_EQ(comparison.diff, "  port <*>\n  $WHO\n- old\n  <*>\n  end\n+ more\n");
  EXPECT_THAT(comparison.rewritten, ElementsAre("port <*>", "$WHO", "<*>", "end", "more"));
}

TEST(SuiteLines, BytesThatAreNoTextAreEscaped) {
  EXPECT_THAT(PrintableLines("a\tb\n\n\x1b[1m\xff\xc3\xa4", "! "),
              ElementsAre("! a\tb", "!", "! \\x1b[1m\\xff\xc3\xa4 (no newline)"));
  EXPECT_EQ(PrintableLines("", "! "), Lines());
}

class SuiteFile : public ::testing::Test {
 protected:
  /// The program that plays suites, with a file of this text.
  [[nodiscard]] ProcessResult Play(const std::string& text, Lines options = {}) const {
    WriteFile(file_, text);
    options.insert(options.begin(), SUITE_PROGRAM);
    options.push_back(file_);
    return testing_support::RunProcess({.arguments = options});
  }

  testing_support::TemporaryDirectory directory_;
  const std::string file_ = directory_.path() / "example.txt";
};

TEST_F(SuiteFile, IsRefusedWithTheLineThatIsWrong) {
  EXPECT_THAT(Play("output\n").error, HasSubstr("example.txt:1: here must be a keyword"));
  EXPECT_THAT(Play("= A\n$ a\n\noutput\n").error, HasSubstr("example.txt:4: here must be"));
  EXPECT_THAT(Play("project: a\n").error, HasSubstr("there is no test"));
}

TEST_F(SuiteFile, KeepsOutputThatLooksLikeAKeyword) {
  for (const char* line : {"$ a", "> b", "= c", "# d", "exit 1", "! e", "| f", "< g", "stop", ""}) {
    const std::string output = AsOutput(line);
    EXPECT_TRUE(output.starts_with("|")) << line;
    WriteFile(file_, "= A\n$ a\n" + output + "\n");
    EXPECT_THAT(ReadSuite(file_).tests[0].steps[0].expected, ElementsAre(output));
  }
  EXPECT_EQ(AsOutput("stopped"), "stopped");
}

TEST_F(SuiteFile, PassesIfAllCameAsExpected) {
  const ProcessResult result = Play(
      "# A comment.\nproject: a\n\n= It <works>\n$ echo out; \\\n  echo err >&2; exit 3\nout\n"
      "! err\nexit 3\n$ pwd; printf '\\n= x'\n$PROJECT\n|\n| = x (no newline)\nwait: test -e a\n"
      "\n= It does not\nneeds luck: false\n$ echo\n");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("SKIPPED It does not: needs luck"));
}

TEST_F(SuiteFile, SaysWhereAndHowWhatCameDiffers) {
  const ProcessResult result = Play("each WHO: Ann \"B b\"\n\n= It greets\n$ echo $WHO\nAnn\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, AllOf(HasSubstr("[       OK ] example.It_greets_Ann"),
                                   HasSubstr("example.txt:4 (WHO=B b): $ echo $WHO\n"),
                                   HasSubstr("- Ann\n+ B b\n")));
}

TEST_F(SuiteFile, IsRewrittenOnlyWhereItDiffers) {
  const std::string head = "# Kept.\n= A\n$ echo $$\n<*>\n\n= B\n";
  EXPECT_EQ(Play(head + "$ echo b; false\n$ echo c\nd\n", {"--rewrite"}).exit_code, 1);
  const std::string rewritten = testing_support::ReadFile(file_);
  EXPECT_EQ(rewritten, head + "$ echo b; false\nb\nexit 1\n$ echo c\nc\n");
  EXPECT_EQ(Play(rewritten).exit_code, 0);
}

}  // namespace
}  // namespace suites
