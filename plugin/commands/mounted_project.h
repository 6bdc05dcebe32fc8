#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "changes/baseline.h"
#include "commands/project.h"
#include "paths/host_programs.h"

namespace commands {

/// The location of the writable mount that holds `project`; nothing if work on it is in a copy.
/// Throws support::CallError if it is neither on such a mount nor apart from all mounts.
std::optional<std::string> FindMount(const Instance& instance, const std::string& project);

/// A project that the guest can write, and its baseline.
class MountedProject {
 public:
  /// `mount` is FindMount's. From then on PATH has no directory that the guest can write.
  MountedProject(const Instance& instance, const std::string& mount, const std::string& project);

  /// Takes the baseline if there is none. Says what was changed since the last session.
  void BeginSession();

  /// Says what was changed since the baseline; a failure is a warning.
  void EndSession();

  /// Prints what was changed since the baseline, and the limits of that. Returns whether there is
  /// something. Throws support::CallError without a baseline.
  bool PrintChanges(std::ostream& out) const;

  /// Makes the project as it is the baseline, and prints what that accepts.
  void Accept() const;

  /// What differs from HEAD; with `only_names`, after the changes.
  void PrintDiff(bool only_names, std::uint64_t max_size) const;

 private:
  [[nodiscard]] changes::State ReadState() const;
  /// Returns whether there is something.
  bool Print(const changes::State& state, std::ostream& out) const;
  /// The baseline with `state` as what was seen last.
  void SaveSeen(const changes::State& state);

  std::string instance_;
  std::filesystem::path instance_directory_;
  paths::HostPrograms programs_;
  std::string search_path_;
  std::string top_;
  std::optional<changes::Baseline> baseline_;
};

/// That of the current directory; nothing if work on it is in a copy. Throws support::CallError.
std::optional<MountedProject> FindMountedProject(const std::string& instance);

}  // namespace commands
