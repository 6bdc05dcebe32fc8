// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "copy/copy.h"
#include "copy/instance.h"
#include "exposure/report.h"

namespace copy {

/// A project that an agent works on in an instance: on a mount, or in a copy. The commands
/// are the same for both. Each function throws support::Error.
class Work {
 public:
  Work(Instance instance, std::string project, bool in_copy)
      : instance_(std::move(instance)), project_(std::move(project)), in_copy_(in_copy) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] const std::string& project() const { return project_; }  ///< its path on the host
  /// The project, or a copy of it, for people.
  [[nodiscard]] std::string Title() const { return (in_copy_ ? "a copy of " : "") + project_; }
  /// An option for `serve` besides the instance and `--name`, or none.
  [[nodiscard]] std::string ServerOption() const { return in_copy_ ? "--copy=" + project_ : ""; }
  /// The project's path for the agent.
  [[nodiscard]] virtual std::string AgentsPath() const { return project_; }
  /// Whether `--root` chooses anything.
  [[nodiscard]] bool HasRoots() const { return !in_copy_; }
  /// The directory of the project in the guest.
  [[nodiscard]] virtual std::string GuestDirectory() const = 0;

  /// Called before an agent starts. Starts the instance if it is stopped. Returns 128 and the
  /// number of the signal that ended the set-up, else 0.
  virtual int Begin(const SendOptions& options) = 0;
  /// Called after it exited. Prints the changes to standard error; a failure is a warning.
  virtual void End() = 0;

  /// Prints the changes that programs on this host would run or obey, and the limits of that.
  /// Returns whether there are any.
  virtual bool PrintChanges(std::ostream& out) = 0;
  /// Accepts these changes as the new baseline, and prints them.
  virtual void Accept() = 0;
  /// Prints the diff; with `only_names`, the changes and then the names. At most `max_size` bytes
  /// come from the guest.
  virtual void PrintDiff(bool only_names, std::uint64_t max_size) = 0;

 protected:
  /// Prints the report, where that was changed, and the limits of reports. Returns whether there is
  /// something; if not, prints nothing.
  static bool PrintReport(const exposure::Report& report, const std::string& where,
                          std::ostream& out);
  /// Says that there is nothing, and the limits.
  static void PrintNothing(std::ostream& out);

  [[nodiscard]] const Instance& instance() const { return instance_; }

 private:
  const Instance instance_;
  const std::string project_;
  const bool in_copy_;
};

/// The work on the project in the current directory. If the choice has a directory, in a copy; else
/// on the mount that contains the project, or in a copy if none touches it. Removes directories
/// that the guest can write from PATH.
std::unique_ptr<Work> FindWork(const Instance& instance, const Choice& choice = {});

/// A project that the guest has a copy of. The copy is locked only while a function works with it.
std::unique_ptr<Work> WorkInCopy(const Instance& instance, const Choice& choice);

/// A project that the guest can write, and its baseline, which the first session takes. `diff`
/// compares with what the project was then, or at a later session if nothing was left to accept.
/// Nothing if work on it is in a copy. Throws support::Error if it is neither on a writable mount
/// nor apart from all mounts.
std::unique_ptr<Work> WorkOnMount(const Instance& instance, const std::string& project);

}  // namespace copy
