// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

/// `limactl mcp doctor`: checks everything between an agent and the guest, and prints what to do.
namespace doctor {

enum class Result {
  kPassed,
  kWarning,  ///< works, but not as well or as safely as it could
  kFailed,
  kSkipped,  ///< not tried, because an earlier check failed
};

struct Finding {
  Result result = Result::kPassed;
  std::string text;         ///< what was found, or what is wrong
  std::string advice = {};  ///< what to do about it; may be empty
  std::string check = {};   ///< the check's name, such as "connect"
  std::chrono::milliseconds duration{0};
};

inline Finding Passed(std::string text) {
  return {Result::kPassed, std::move(text)};
}
inline Finding Warning(std::string text, std::string advice) {
  return {Result::kWarning, std::move(text), std::move(advice)};
}
inline Finding Failed(std::string text, std::string advice) {
  return {Result::kFailed, std::move(text), std::move(advice)};
}
inline Finding Skipped(std::string text) {
  return {Result::kSkipped, std::move(text)};
}

/// "ok   connect        text (12 ms)", and a second line for the advice, if any. Escaped with
/// support::Printable.
std::string FindingLines(const Finding& finding);

/// "14 passed, 1 warning, 2 failed, 1 skipped." and a line feed. Omits zero counts.
std::string SummaryLine(const std::vector<Finding>& findings);

bool AnyFailed(const std::vector<Finding>& findings);

/// The output of `doctor --json`; docs/troubleshooting.md shows it.
nlohmann::json ReportJson(const std::string& instance, const std::vector<Finding>& findings);

}  // namespace doctor
