// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "commands/work.h"
#include "exposure/mounted.h"
#include "paths/host_programs.h"

namespace commands {

/// The location of the writable mount that holds `project`; nothing if work on it is in a copy.
/// Throws support::Error if it is neither on such a mount nor apart from all mounts.
std::optional<std::string> FindMount(const Instance& instance, const std::string& project);

/// A project that the guest can write, and its baseline, which the first session takes. `diff`
/// compares with what the project was then, or at a later session if nothing was left to accept.
class MountedWork : public Work {
 public:
  /// `mount` is FindMount's.
  MountedWork(const Instance& instance, const std::string& mount, const std::string& project);

  [[nodiscard]] std::string GuestDirectory() const override;
  void Begin() override;
  void End() override;
  bool PrintChanges(std::ostream& out) override;
  void Accept() override;
  void PrintDiff(bool only_names, std::uint64_t max_size) override;

 private:
  [[nodiscard]] std::string Top() const { return baseline_ ? baseline_->top : top_; }
  [[nodiscard]] exposure::State ReadState() const;
  void SetBaseline(exposure::State state);
  void KeepFiles() const;
  /// Prints the changes since the baseline. Returns whether there are any.
  bool Print(const exposure::State& state, std::ostream& out) const;
  void RequireBaseline() const;

  paths::HostPrograms programs_;
  std::string top_;  ///< of the repository, if it is on the mount
  std::optional<exposure::Baseline> baseline_;
};

}  // namespace commands
