#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/warm_shell.h"

namespace tools {

/// Keeps login shells waiting for commands, since nearly all of a short command's time is the start
/// of its login shell.
///
/// A command may have edited the profile: whatever waited when it ended is thrown away, and a new
/// shell is started for the same directory. So it is when a file is written, since a profile may
/// read any (of the project: .env, .nvmrc). Thrown away is also a shell that is older than
/// kLongestAge. After kMostFailures in a row that did not become ready, no more is tried with that
/// guest. Thread-safe.
class WarmShells {
 public:
  /// How many wait at most, when commands run beside each other.
  static constexpr std::size_t kMost = 2;
  static constexpr std::chrono::minutes kLongestAge{5};
  static constexpr int kMostFailures = 3;

  /// Where as many commands still run when one ends none is started: they need the channels and the
  /// processors themselves.
  static constexpr int kMostCommands = 2;

  /// How long after its start a shell is still waited for: it is always ahead of one that would be
  /// started now.
  static constexpr std::chrono::seconds kPatience{10};

  struct Options {
    bool enabled = true;
    std::chrono::milliseconds longest_age = kLongestAge;
    WarmShell::Options shell;
  };

  /// How long after a file was written the next shell is started: files that are written one after
  /// the other do not each start one.
  static constexpr std::chrono::milliseconds kReplacementDelay{100};

  /// Where a command runs.
  struct Place {
    guest::Guest* guest;
    std::string directory;
    std::string shell;  ///< the login shell; empty: the guest's "$SHELL"

    friend bool operator==(const Place&, const Place&) = default;
  };

  /// Held while a command runs; its end starts the next shell.
  class Use {
   public:
    Use(WarmShells& shells, Place place);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    /// A shell that is ready, if there is one; nobody else gets it.
    std::shared_ptr<WarmShell> Take(const support::Context& context);

   private:
    WarmShells& shells_;
    Place place_;
  };

  explicit WarmShells(const Options& options) : options_(options) {}

  /// A file in the guest has changed: new shells take the place of those that wait there.
  void Replace(guest::Guest& guest);

 private:
  struct Entry {
    Place place;
    std::shared_ptr<WarmShell> shell;
  };

  std::shared_ptr<WarmShell> Take(const Place& place);
  void Renew(const Place& place);
  void DropEnded(const guest::Guest* guest);
  /// Of a shell that has been taken.
  void Judge(bool became_ready);

  Options options_;
  std::mutex mutex_;  // of what follows
  std::vector<Entry> waiting_;
  int commands_ = 0;
  const guest::Guest* guest_ = nullptr;  // of which `failures_` tells
  int failures_ = 0;
};

}  // namespace tools
