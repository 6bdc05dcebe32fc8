#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_descriptor.h"
#include "support/spawn.h"

namespace copy {

/// A git of the host that runs. The destructor kills it. One thread.
class GitChild {
 public:
  /// Throws support::CallError if there is no git. An output or error stream that is not given is
  /// for Read.
  GitChild(const std::vector<std::string>& command, const support::Variables& environment,
           support::SpawnStreams streams);
  ~GitChild();
  GitChild(const GitChild&) = delete;
  GitChild& operator=(const GitChild&) = delete;

  /// Passes on the standard output until it ends, and keeps the beginning of the standard error.
  void Read(const std::function<void(std::string_view)>& on_output);

  /// Any thread.
  void Kill() const;

  /// Reads the rest, and waits until it exits. True for exit status 0.
  bool Finish();

  /// 128+N after signal N.
  [[nodiscard]] int status() const { return status_; }

  /// What git says is wrong, on one printable line of bounded length.
  [[nodiscard]] std::string Words() const;
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  support::FileDescriptor output_;
  support::FileDescriptor error_stream_;
  std::string error_;
};

struct GitOutput {
  int status = 0;
  std::string output;
  std::string error;  ///< the beginning
  std::string words;  ///< GitChild::Words

  [[nodiscard]] bool ok() const { return status == 0; }
  /// The output without its last line end.
  [[nodiscard]] std::string Line() const;
};

/// A way to call git on the host: the options before the subcommand, and the environment. There are
/// two. None runs a hook, starts a daemon or uses the network.
class Git {
 public:
  using Arguments = std::vector<std::string>;

  /// For everything that touches what the guest sent: no configuration, no environment, memory and
  /// CPU time limited. `lock` is a descriptor that each git inherits.
  static Git Neutral(const std::filesystem::path& repository, int lock);

  /// Reads the user's repository with the user's configuration, and adds to it.
  static Git Users(const std::filesystem::path& project, int lock);

  [[nodiscard]] Git With(const support::Variables& variables) const;

  /// For large work on the user's own objects.
  [[nodiscard]] Git WithoutLimits() const;

  /// See GitChild for the streams.
  [[nodiscard]] GitChild Start(const Arguments& arguments, support::SpawnStreams streams) const;

  /// Runs it to its end.
  [[nodiscard]] GitOutput Run(const Arguments& arguments, std::string_view input = {}) const;

  /// The output's line. Throws support::CallError, with `what` and git's words, if it fails.
  std::string Require(const Arguments& arguments, std::string_view what,
                      std::string_view input = {}) const;

 private:
  std::vector<std::string> limits_;
  std::vector<std::string> options_;
  support::Variables environment_;
  int lock_ = -1;
};

/// An unlinked file with this text, read from its beginning.
support::FileDescriptor TextFile(std::string_view text);

/// The parts of `text`, each of which ends with `end`.
std::vector<std::string> Split(std::string_view text, char end);

}  // namespace copy
