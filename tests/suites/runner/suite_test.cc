#include "suites/runner/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace suites {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::ProcessResult;
using testing_support::ReadFile;

class SuiteFile : public ::testing::Test {
 protected:
  void Write(const std::string& text) const { testing_support::WriteFile(file_, text); }
  [[nodiscard]] std::string ErrorOf(const std::string& text) const {
    Write(text);
    try {
      ReadSuite(file_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no error";
  }
  /// The program that plays suites, with this file.
  [[nodiscard]] ProcessResult Play(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), SUITE_PROGRAM);
    options.push_back(file_);
    return testing_support::RunProcess({.arguments = options});
  }

 private:
  testing_support::TemporaryDirectory directory_;

 protected:
  const std::string file_ = directory_.path() / "example.txt";
};

TEST_F(SuiteFile, HasAHeadAndTestsWithSteps) {
  Write(
      "# A comment.\nproject: a\n\n= It works\n$ one \\\n  two\nout\n! error\nexit 1\nwait: "
      "three\n");
  const Suite suite = ReadSuite(file_);
  ASSERT_EQ(suite.head.size(), 1U);
  ASSERT_EQ(suite.tests.size(), 1U);
  EXPECT_EQ(suite.tests[0].name, "It works");
  ASSERT_EQ(suite.tests[0].steps.size(), 2U);
  const Step& step = suite.tests[0].steps[0];
  EXPECT_EQ(step.text, "one \\\n  two");
  EXPECT_THAT(step.expected, ElementsAre("out", "! error", "exit 1"));
}

TEST_F(SuiteFile, IsRefusedWithTheLineThatIsWrong) {
  EXPECT_THAT(ErrorOf("output\n"), HasSubstr("example.txt:1: nothing here has output"));
  EXPECT_THAT(ErrorOf("= A\n$ a\n\noutput\n"), HasSubstr("example.txt:4: output must follow"));
  EXPECT_THAT(ErrorOf("project: a\n"), HasSubstr("there is no test"));
}

TEST_F(SuiteFile, KeepsOutputThatLooksLikeAKeyword) {
  for (const char* line : {"$ a", "> b", "= c", "# d", "exit 1", "! e", "| f", "< g", "stop", ""}) {
    const std::string output = AsOutput(line);
    EXPECT_TRUE(output.starts_with("|")) << line;
    Write("= A\n$ a\n" + output + "\n");
    EXPECT_THAT(ReadSuite(file_).tests[0].steps[0].expected, ElementsAre(output));
  }
  EXPECT_EQ(AsOutput("stopped"), "stopped");
}

TEST_F(SuiteFile, PassesIfAllCameAsExpected) {
  Write(
      "= It <works>\n$ echo out; echo err >&2; exit 3\nout\n! err\nexit 3\n"
      "$ pwd; printf '\\n= x'\n$PROJECT\n|\n| = x (no newline)\n"
      "terminal $ read a; echo $a\nkeys \"hi\\n\"\nhi\nhi\n");
  const ProcessResult result = Play();
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST_F(SuiteFile, SaysWhereAndHowWhatCameDiffers) {
  Write("each WHO: Ann Bob\n\n= It greets\n$ echo $WHO\nAnn\n");
  const ProcessResult result = Play();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, AllOf(HasSubstr("[       OK ] example.It_greets_Ann"),
                                   HasSubstr("example.txt:4 (WHO=Bob): $ echo $WHO\n"),
                                   HasSubstr("- Ann\n+ Bob\n")));
}

TEST_F(SuiteFile, IsRewrittenOnlyWhereItDiffers) {
  const std::string head = "# Kept.\n= A\n$ echo $$\n<*>\n\n= B\n";
  Write(head + "$ echo b; false\n$ echo c\nd\n");
  EXPECT_EQ(Play({"--rewrite"}).exit_code, 1);
  EXPECT_EQ(ReadFile(file_), head + "$ echo b; false\nb\nexit 1\n$ echo c\nc\n");
  EXPECT_EQ(Play().exit_code, 0);
}

}  // namespace
}  // namespace suites
