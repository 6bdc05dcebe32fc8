#pragma once

#include <chrono>
#include <string>
#include <utility>

/// `limactl mcp doctor`: checks everything between an agent and the guest, and prints what to do.
namespace doctor {

enum class Mark {
  kPassed,
  kWarning,  ///< works, but not as well or as safely as it could
  kFailed,
  kSkipped,  ///< not tried, because an earlier check failed
};

/// What one check found.
struct Finding {
  Mark mark = Mark::kPassed;
  std::string text;         ///< what there is, or what is wrong
  std::string advice = {};  ///< what to do about it; may be empty
};

inline Finding Passed(std::string text) {
  return {Mark::kPassed, std::move(text)};
}
inline Finding Warning(std::string text, std::string advice) {
  return {Mark::kWarning, std::move(text), std::move(advice)};
}
inline Finding Failed(std::string text, std::string advice) {
  return {Mark::kFailed, std::move(text), std::move(advice)};
}
inline Finding Skipped(std::string text) {
  return {Mark::kSkipped, std::move(text)};
}

/// A check that was run or skipped.
struct Result {
  std::string check;  ///< its name, such as "connect"
  Finding finding;
  std::chrono::milliseconds duration{0};
};

}  // namespace doctor
