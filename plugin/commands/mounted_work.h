// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/work.h"
#include "exposure/baseline.h"
#include "exposure/host_programs.h"

namespace commands {

/// The location of the writable mount that holds `project`; nothing if work on it is in a copy.
/// Throws support::Error if it is neither on such a mount nor apart from all mounts.
std::optional<std::string> FindMount(const Instance& instance, const std::string& project);

/// A project that the guest can write, and its baseline, which the first session takes.
class MountedWork : public Work {
 public:
  /// `mount` is FindMount's.
  MountedWork(const Instance& instance, const std::string& mount, const std::string& project);

  [[nodiscard]] const std::string& project() const override { return project_; }
  [[nodiscard]] std::string Title() const override { return project_; }
  [[nodiscard]] std::string GuestDirectory() const override;
  [[nodiscard]] std::vector<std::string> ServerOptions() const override { return {}; }
  [[nodiscard]] bool HasRoots() const override { return true; }
  void Begin() override;
  void End() override;
  bool PrintChanges(std::ostream& out) override;
  void Accept() override;
  void PrintDiff(bool only_names, std::uint64_t max_size) override;

 private:
  [[nodiscard]] exposure::State ReadState() const;
  /// Prints the changes since the baseline. Returns whether there are any.
  bool Print(const exposure::State& state, std::ostream& out) const;
  /// Saves the baseline, with `state` as the one seen last.
  void SaveSeen(const exposure::State& state);

  const Instance instance_;
  const std::string mount_;
  const std::string project_;
  std::string name_argument_;  ///< " NAME", for commands in texts; empty for their default
  exposure::HostPrograms programs_;
  std::string search_path_;
  std::string top_;  ///< of the repository, if it is on the mount
  std::optional<exposure::Baseline> baseline_;
};

}  // namespace commands
