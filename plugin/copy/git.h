#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/file_descriptor.h"
#include "support/spawn.h"

namespace copy {

/// A git of the host that runs. The destructor kills it.
class GitChild {
 public:
  /// Without `streams.output`, Read gets the output. Throws support::CallError if there is no git.
  GitChild(const std::vector<std::string>& command, const support::Variables& environment,
           support::SpawnStreams streams);
  ~GitChild();
  GitChild(const GitChild&) = delete;
  GitChild& operator=(const GitChild&) = delete;

  /// Passes on the standard output until it ends or `on_output` returns false.
  void Read(const std::function<bool(std::string_view)>& on_output);

  /// Waits until it exits; true for exit status 0. Call it once, before what follows.
  bool Finish();

  /// 128+N after signal N.
  [[nodiscard]] int status() const { return status_; }

  /// The beginning of the standard error.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// What git says is wrong, on one printable line of bounded length.
  [[nodiscard]] std::string Words() const;

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  support::FileDescriptor output_;
  std::string error_;
  std::thread error_reader_;
};

struct GitOutput {
  int status = 0;
  std::string output;
  std::string error;
  std::string words;  ///< GitChild::Words

  [[nodiscard]] bool ok() const { return status == 0; }
  /// The output without its last line end.
  [[nodiscard]] std::string Line() const;
};

/// A way to call git on the host. There are two. None runs a hook, starts a daemon or uses the
/// network. Each git inherits the lock, a descriptor.
class Git {
 public:
  using Arguments = std::vector<std::string>;

  /// For all that touches what the guest sent: no configuration, no environment, memory and CPU
  /// time limited.
  static Git Neutral(const std::filesystem::path& repository, int lock);

  /// Reads the user's repository, with the user's configuration, and adds to it.
  static Git Users(const std::filesystem::path& project, int lock);

  [[nodiscard]] Git With(const support::Variables& variables) const;
  /// For large work on the user's own objects.
  [[nodiscard]] Git WithoutLimits() const;

  [[nodiscard]] GitChild Start(const Arguments& arguments, support::SpawnStreams streams) const;

  /// Runs it to its end.
  [[nodiscard]] GitOutput Run(const Arguments& arguments, const std::string& input = "") const;

  /// The output's line. Throws support::CallError, with `what` and git's words, if it fails.
  std::string Require(const Arguments& arguments, std::string_view what,
                      const std::string& input = "") const;

 private:
  std::vector<std::string> command_;
  support::Variables environment_;
  int lock_ = -1;
};

/// Those among `ids` that are commits which git has.
std::vector<std::string> Existing(const Git& git, const std::vector<std::string>& ids);

/// Lines for `git pack-objects --revs`: nothing that these commits have.
std::string Excluding(const std::vector<std::string>& ids);

/// The mode of a tree's entry that is a repository of its own.
inline constexpr std::string_view kRepositoryMode = "160000";

/// What `git diff --raw -z` lists: the modes and the new id of a path.
struct RawChange {
  std::string path;
  std::string old_mode;
  std::string mode;
  std::string id;
};
std::vector<RawChange> ParseRaw(std::string_view raw);

/// Whether "git version 2.39.5" is 2.`minor` or newer.
bool IsNewEnough(const std::string& version, int minor);

/// An unlinked file with this text, read from its beginning.
support::FileDescriptor TextFile(const std::string& text);

/// The parts of `text`, each of which ends with `end`.
std::vector<std::string> Split(std::string_view text, char end);

}  // namespace copy
