#include "doctor/examination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/errors.h"

namespace doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kAmple{60};

class ExaminationTest : public ::testing::Test {
 protected:
  const Result& Run(const std::string& name, const std::vector<std::string>& needs,
                    const std::function<Finding(const support::Context&)>& run) {
    examination.Run({name, needs, kAmple, "mend it", run});
    return examination.results().back();
  }
  const Result& Pass(const std::string& name, const std::vector<std::string>& needs = {}) {
    return Run(name, needs, [](const auto&) { return Passed("fine"); });
  }
  const Result& Fail(const std::string& name, const std::vector<std::string>& needs = {}) {
    return Run(name, needs, [](const auto&) { return Failed("bad", "better"); });
  }

  std::vector<std::string> seen;
  Examination examination{[this](const Result& result) { seen.push_back(result.check); }};
};

TEST_F(ExaminationTest, TellsOfEachCheckAsItIsDoneAndKeepsThemInTheirOrder) {
  Pass("one");
  EXPECT_THAT(seen, ElementsAre("one"));
  Fail("two");
  EXPECT_THAT(seen, ElementsAre("one", "two"));
  EXPECT_EQ(examination.results().at(0).finding.text, "fine");
  EXPECT_EQ(examination.results().at(1).finding.mark, Mark::kFailed);
}

TEST_F(ExaminationTest, SkipsWhatNeedsAFailedCheckAndSaysWhichOneFailed) {
  Fail("one");
  EXPECT_EQ(Pass("two", {"one"}).finding.mark, Mark::kSkipped);
  EXPECT_EQ(Pass("three", {"two"}).finding.text, "cannot be tried: one failed");
  EXPECT_EQ(Pass("four").finding.mark, Mark::kPassed);
  EXPECT_EQ(Pass("five", {"four", "three"}).finding.text, "cannot be tried: one failed");
  EXPECT_FALSE(examination.Works("one"));
  EXPECT_FALSE(examination.Works("three"));
  EXPECT_TRUE(examination.Works("four"));
}

TEST_F(ExaminationTest, WarningKeepsNothingFromBeingTried) {
  Run("one", {}, [](const auto&) { return Warning("slow", "faster"); });
  EXPECT_EQ(Pass("two", {"one"}).finding.mark, Mark::kPassed);
}

TEST_F(ExaminationTest, CheckThatWasNeverRunDoesNotWork) {
  EXPECT_FALSE(examination.Works("one"));
  EXPECT_EQ(Pass("two", {"one"}).finding.mark, Mark::kSkipped);
}

TEST_F(ExaminationTest, ExceptionIsAFailureWithTheChecksOwnAdvice) {
  const Finding& called =
      Run("one", {}, [](const auto&) -> Finding { throw support::CallError("broken"); }).finding;
  EXPECT_EQ(called.mark, Mark::kFailed);
  EXPECT_EQ(called.text, "broken");
  EXPECT_EQ(called.advice, "mend it");
  EXPECT_EQ(
      Run("two", {}, [](const auto&) -> Finding { throw std::runtime_error("odd"); }).finding.text,
      "odd");
}

TEST_F(ExaminationTest, CheckThatDoesNotEndInTimeFails) {
  examination.Run({"one",
                   {},
                   std::chrono::milliseconds(10),
                   "wait",
                   [](const support::Context& context) -> Finding {
                     while (true) context.ThrowIfStopped();
                   }});
  const Result& result = examination.results().front();
  EXPECT_EQ(result.finding.mark, Mark::kFailed);
  EXPECT_THAT(result.finding.text, HasSubstr("not done within"));
  EXPECT_EQ(result.finding.advice, "wait");
  EXPECT_GE(result.duration, std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace doctor
