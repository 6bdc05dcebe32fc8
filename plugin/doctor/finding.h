#pragma once

#include <chrono>
#include <string>
#include <string_view>

/// `limactl mcp doctor`: looks, step by step, at all that lies between an agent and the guest, and
/// says of what is wrong what to do.
namespace doctor {

enum class Mark {
  kPassed,
  kWarning,  ///< works, but not as well or as safely as it could
  kFailed,
  kSkipped,  ///< could not be tried, because an earlier check failed
};

/// "passed", "warning", "failed", "skipped".
std::string_view Name(Mark mark);

/// What one check found.
struct Finding {
  Mark mark = Mark::kPassed;
  std::string text;    ///< what there is, or what is wrong
  std::string advice;  ///< what to do about it; empty where there is nothing to do
};

Finding Passed(std::string text);
Finding Warning(std::string text, std::string advice);
Finding Failed(std::string text, std::string advice);

/// A check that has been done, or skipped.
struct Result {
  std::string check;  ///< "connect"; see Examine (doctor.h)
  Finding finding;
  std::chrono::milliseconds duration{0};
};

}  // namespace doctor
