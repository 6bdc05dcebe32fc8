// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/child.h"
#include "support/context.h"
#include "support/words.h"

namespace git {

/// The text of an error, without its full stop, that left everything as it was. Only for what has
/// changed nothing, or has compared everything since.
std::string Unchanged(const std::string& problem);

/// The first `fatal:` or `error:` line of a git that has exited, else its last line. Printable, at
/// most 400 bytes.
std::string ErrorLine(const support::Child& git);

/// Waits until it exits. Throws support::Error, with `what` and its error line, if it fails.
void RequireSuccess(support::Child& git, std::string_view what);

struct GitOutput {
  int status = 0;
  std::string output;
  std::string error;
  std::string error_line;  ///< see ErrorLine
  bool is_cut = false;     ///< there is more than 128 MiB of output; git was killed

  [[nodiscard]] bool ok() const { return status == 0; }
  /// The output without its last line end.
  [[nodiscard]] std::string Line() const;
};

/// A way to call git on the host. There are two. None runs a hook, starts a daemon or uses the
/// network. Each git inherits the lock, a descriptor.
class Git {
 public:
  using Arguments = std::vector<std::string>;

  enum class Limits {
    kStrict,
    kNone,  ///< for large work on the user's own objects
  };

  /// A git for everything that the guest sent: no configuration, no environment, limited memory
  /// and CPU time.
  static Git Neutral(const std::filesystem::path& repository, int lock,
                     Limits limits = Limits::kStrict);

  /// Reads the user's repository, with the user's configuration, and adds to it.
  static Git Users(const std::filesystem::path& project, int lock);

  [[nodiscard]] Git With(const support::Environment& variables) const;
  /// A git with a working tree, of which it lists all, wherever this program was started. Run and
  /// Read stop it when it prints nothing for `time`.
  [[nodiscard]] Git In(const std::filesystem::path& working_tree, std::chrono::seconds time) const;

  /// Without `streams.output`, the child's Read gets the output. Throws support::Error if there
  /// is no git.
  [[nodiscard]] support::Child Start(const Arguments& arguments,
                                     support::SpawnStreams streams) const;

  /// Runs it, and passes on its output until it exits or `on_output` returns false. Throws
  /// support::Error, with `what`, if it fails.
  void Read(const Arguments& arguments, const std::function<bool(std::string_view)>& on_output,
            std::string_view what, const std::string& input = "") const;

  /// Runs it to its end, unless the output is cut.
  [[nodiscard]] GitOutput Run(const Arguments& arguments, const std::string& input = "") const;

  /// The output's line. Throws support::Error, with `what` and the error line, if it fails.
  std::string Require(const Arguments& arguments, std::string_view what,
                      const std::string& input = "") const;

 private:
  [[nodiscard]] support::Context Deadline() const;
  [[nodiscard]] std::string StoppedText() const;

  std::vector<std::string> command_;
  support::Environment environment_;
  int lock_ = -1;
  std::optional<std::chrono::seconds> time_;
};

/// Lines for `git pack-objects --revs`: nothing that these commits have.
std::string Excluding(const std::vector<std::string>& ids);

/// The paths as git reads them from standard input with `-z`.
std::string EachWithNul(const std::vector<std::string>& paths);

/// A record of `git config -z`, split at the line feed between both.
std::pair<std::string, std::string> KeyAndValue(const std::string& setting);

/// Whether "git version 2.39.5" is 2.`minor` or newer.
bool IsNewEnough(const std::string& version, int minor);

/// Bytes of a git's output, which the guest may have made large.
inline constexpr std::size_t kMaxOutput = std::size_t{128} << 20;

using support::Split;

}  // namespace git
