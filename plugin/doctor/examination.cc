#include "doctor/examination.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "support/errors.h"
#include "support/units.h"

namespace doctor {
namespace {

Finding Carry(const Check& check) {
  try {
    return check.run(support::Context().WithTimeout(check.timeout));
  } catch (const support::Stopped&) {
    return Failed("not done within " + support::FormatDuration(check.timeout), check.advice);
  } catch (const std::exception& error) {
    return Failed(error.what(), check.advice);
  }
}

}  // namespace

bool Examination::Works(const std::string& name) const {
  const bool known = std::any_of(results_.begin(), results_.end(),
                                 [&name](const Result& result) { return result.check == name; });
  return known && !broken_.contains(name);
}

void Examination::Run(const Check& check) {
  Result result;
  result.check = check.name;
  const auto missing = std::find_if_not(check.needs.begin(), check.needs.end(),
                                        [this](const auto& name) { return Works(name); });
  if (missing != check.needs.end()) {
    const auto cause = broken_.find(*missing);
    broken_[check.name] = cause == broken_.end() ? *missing : cause->second;
    result.finding = {Mark::kSkipped, "cannot be tried: " + broken_[check.name] + " failed", ""};
  } else {
    const auto start = support::Clock::now();
    result.finding = Carry(check);
    result.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(support::Clock::now() - start);
    if (result.finding.mark == Mark::kFailed) broken_[check.name] = check.name;
  }
  results_.push_back(std::move(result));
  on_result_(results_.back());
}

}  // namespace doctor
