#include "doctor/round_trip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "support/errors.h"

namespace doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Shell functions of a server: `answer` reads one request and answers it with the given result.
constexpr const char* kServer =
    "id=0\n"
    "next() { read -r request; case $request in *'\"id\"'*) id=$((id + 1)) ;; *) next ;; esac; }\n"
    "answer() { next; printf '{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}\\n' $id \"$1\"; }\n";

class RoundTripTest : public ::testing::Test {
 protected:
  RoundTripTest() { ::signal(SIGPIPE, SIG_IGN); }

  static Finding Talk(const std::string& script,
                      const std::optional<std::string>& directory = "/work") {
    return CheckRoundTrip({"sh", "-c", kServer + script}, directory,
                          support::Context().WithTimeout(std::chrono::seconds(60)));
  }
};

TEST_F(RoundTripTest, ServerThatAnswersEverythingAndEndsPasses) {
  const Finding finding = Talk(
      "answer '{}'\n"
      "echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'\n"
      "answer '{\"tools\":[{},{}]}'\n"
      "answer '{}'; answer '{}'\n"
      "! read -r rest\n");
  EXPECT_EQ(finding.mark, Mark::kPassed) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("initialize, 2 tools, list_directory, run_shell_command"));
}

TEST_F(RoundTripTest, WithoutADirectoryNoToolIsCalled) {
  EXPECT_EQ(Talk("answer '{}'; answer '{}'; ! read -r rest", std::nullopt).mark, Mark::kPassed);
}

TEST_F(RoundTripTest, ServerThatEndsTooSoonIsQuoted) {
  const Finding finding = Talk("answer '{}'; echo no more >&2; exit 6");
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text,
              AllOf(HasSubstr("exit status 6 during tools/list"), HasSubstr("no more")));
}

TEST_F(RoundTripTest, ServerThatPrintsSomethingElseIsQuoted) {
  EXPECT_THAT(Talk("echo Welcome; cat >/dev/null").text, HasSubstr("no MCP message: Welcome"));
}

TEST_F(RoundTripTest, ErrorOfTheProtocolIsPassedOn) {
  EXPECT_THAT(Talk("next; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"not "
                   "here\"}}'; cat >/dev/null")
                  .text,
              AllOf(HasSubstr("initialize is answered with"), HasSubstr("not here")));
}

TEST_F(RoundTripTest, FailureOfAToolIsPassedOn) {
  const Finding finding = Talk(
      "answer '{}'; answer '{}'\n"
      "answer '{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such "
      "directory\"}]}'; cat >/dev/null");
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("list_directory fails: no such directory"));
}

TEST_F(RoundTripTest, AnswersOfOtherTypesThanMcpHasAreAFailure) {
  EXPECT_EQ(Talk("answer '[]'; answer '[]'; cat >/dev/null").mark, Mark::kFailed);
  EXPECT_EQ(Talk("answer '{}'; answer '{\"tools\":3}'; answer 7; cat >/dev/null").mark,
            Mark::kFailed);
}

TEST_F(RoundTripTest, ServerThatEndsWithAnErrorFails) {
  EXPECT_THAT(Talk("answer '{}'; answer '{}'; cat >/dev/null; exit 9", std::nullopt).text,
              HasSubstr("exit status 9"));
}

TEST_F(RoundTripTest, ServerThatDoesNotAnswerOrDoesNotEndIsGivenUp) {
  for (const std::string script :
       {"exec sleep 1000", "answer '{}'; answer '{}'; exec sleep 1000"}) {
    EXPECT_THROW(CheckRoundTrip({"sh", "-c", kServer + script}, std::nullopt,
                                support::Context().WithTimeout(std::chrono::milliseconds(300))),
                 support::Stopped)
        << script;
  }
}

}  // namespace
}  // namespace doctor
