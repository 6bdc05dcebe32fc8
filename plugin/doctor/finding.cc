#include "doctor/finding.h"

#include <utility>

namespace doctor {

std::string_view Name(Mark mark) {
  switch (mark) {
    case Mark::kPassed:
      return "passed";
    case Mark::kWarning:
      return "warning";
    case Mark::kFailed:
      return "failed";
    case Mark::kSkipped:
      return "skipped";
  }
  return "failed";
}

Finding Passed(std::string text) {
  return {Mark::kPassed, std::move(text), ""};
}

Finding Warning(std::string text, std::string advice) {
  return {Mark::kWarning, std::move(text), std::move(advice)};
}

Finding Failed(std::string text, std::string advice) {
  return {Mark::kFailed, std::move(text), std::move(advice)};
}

}  // namespace doctor
