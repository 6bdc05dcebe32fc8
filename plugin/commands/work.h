#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "commands/project.h"

namespace commands {

/// A project that an agent works on in an instance: on a mount, or in a copy. What the user does
/// about it is the same. Each function throws support::Error.
class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] virtual const std::string& project() const = 0;  ///< its path on the host
  /// For people: the project, or a copy of it.
  [[nodiscard]] virtual std::string Title() const = 0;
  /// Where commands find the project in the guest.
  [[nodiscard]] virtual std::string GuestDirectory() const = 0;
  /// What `serve` needs besides the instance.
  [[nodiscard]] virtual std::vector<std::string> ServerOptions() const = 0;
  /// Whether `--root` and `--allow-path` choose anything.
  [[nodiscard]] virtual bool HasRoots() const = 0;

  /// Before an agent starts. Starts the instance if it is stopped.
  virtual void Begin() = 0;
  /// After it. Says on standard error what to look at; a failure is a warning.
  virtual void End() = 0;

  /// Prints what this host would run or obey of what was changed, and the limits of that. Returns
  /// whether there is something.
  virtual bool PrintChanges(std::ostream& out) = 0;
  /// Makes that the state with which later ones are compared, and prints it.
  virtual void Accept() = 0;
  /// With `only_names`, after the changes. At most `max_size` bytes come from the guest.
  virtual void PrintDiff(bool only_names, std::uint64_t max_size) = 0;
};

/// Of the project in the current directory. With `copy_directory`, in a copy there; else on the
/// mount that contains the project, or in a copy if none touches it. From then on PATH has no
/// directory that the guest can write.
std::unique_ptr<Work> FindWork(const Instance& instance, const std::string& copy_directory = "");

inline constexpr const char* kReportLimits =
    "Source code is not judged, and the guest can change more while the VM runs.\n";

}  // namespace commands
