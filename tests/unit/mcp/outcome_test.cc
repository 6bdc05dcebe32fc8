#include "mcp/outcome.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/errors.h"

namespace mcp {
namespace {

template <typename Exception>
Outcome Of(const Exception& exception) {
  return OutcomeOf(std::make_exception_ptr(exception));
}

TEST(Outcome, CallErrorsOfEveryKindAreFailuresOfTheTool) {
  EXPECT_EQ(std::get<ToolFailure>(Of(support::CallError("disk full"))).text, "disk full");
  EXPECT_EQ(std::get<ToolFailure>(Of(support::ConnectionLost("may have run", true))).text,
            "may have run");
  EXPECT_EQ(std::get<ToolFailure>(Of(support::Stopped(support::StopReason::kDeadline))).text,
            "timed out");
  EXPECT_TRUE(
      std::holds_alternative<ToolFailure>(Of(support::Stopped(support::StopReason::kEndOfInput))));
}

TEST(Outcome, CancelledIsNothingToTell) {
  EXPECT_TRUE(
      std::holds_alternative<Withdrawn>(Of(support::Stopped(support::StopReason::kCancelled))));
}

TEST(Outcome, ProtocolErrorsKeepCodeAndData) {
  const Outcome outcome = Of(ProtocolError(ErrorCode::kInvalidParams, "x", {{"a", 1}}));
  EXPECT_EQ(std::get<ProtocolError>(outcome).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(std::get<ProtocolError>(outcome).data()["a"], 1);
}

TEST(Outcome, EverythingElseIsAnInternalError) {
  EXPECT_EQ(std::get<ProtocolError>(Of(std::out_of_range("bug"))).code(),
            ErrorCode::kInternalError);
  EXPECT_EQ(std::get<ProtocolError>(Of(5)).code(), ErrorCode::kInternalError);
}

}  // namespace
}  // namespace mcp
