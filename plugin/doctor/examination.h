#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "support/context.h"

namespace doctor {

/// One step of an examination.
struct Check {
  std::string name;
  /// Names of earlier checks that must not have failed, nor have been skipped. One that was never
  /// run counts as failed.
  std::vector<std::string> needs;
  std::chrono::milliseconds timeout;
  std::string advice;  ///< for a failure that comes as an exception
  /// Must end by the deadline of its context. What it throws is a failure.
  std::function<Finding(const support::Context&)> run;
};

/// Carries out checks one after the other and keeps what they found. One thread.
class Examination {
 public:
  using Observer = std::function<void(const Result&)>;

  /// `on_result` is called after each check.
  explicit Examination(Observer on_result) : on_result_(std::move(on_result)) {}

  void Run(const Check& check);

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

  /// Whether it has been run, and neither failed nor was skipped.
  [[nodiscard]] bool Works(const std::string& name) const;

 private:
  Observer on_result_;
  std::vector<Result> results_;
  std::map<std::string, std::string> broken_;  ///< check → the failed check that is behind it
};

}  // namespace doctor
