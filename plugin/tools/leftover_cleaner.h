#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/path_locks.h"

namespace tools {

/// Sees to it that no temporary file stays in the guest when this program is killed or the line
/// breaks in the middle of a write.
///
/// A shell in the guest waits on a channel of its own, started with the first write. It makes a
/// directory of its own in $TMPDIR (/tmp), where each directory that is to be written in is noted
/// in a file before the first temporary file is made there. When the channel ends, with the program
/// or with the line, the shell removes from those directories what carries this connection's token
/// and ends itself. What is noted in a file, not passed on a command line or through `read`, may
/// have any name; a note costs three round trips, once for each directory.
///
/// The shell gives way where the guest's sshd has no channel to spare (MaxSessions): writes then go
/// on unwatched, and SweepLeftovers remains.
///
/// One for each connection. Thread-safe.
class LeftoverCleaner {
 public:
  /// How long the first write waits for the shell.
  static constexpr std::chrono::seconds kStartPatience{2};
  /// A shell that had to give way, or did not come up, is not started again before.
  static constexpr std::chrono::seconds kRestartPause{60};
  /// Writes in further directories are neither watched nor followed by SweepLeftovers.
  static constexpr std::size_t kMaximumDirectories = 4096;

  LeftoverCleaner();
  ~LeftoverCleaner();
  LeftoverCleaner(const LeftoverCleaner&) = delete;
  LeftoverCleaner& operator=(const LeftoverCleaner&) = delete;

  struct Name {
    std::string path;
    bool watched = false;  ///< the shell removes it, and may do so early where it gives way
  };

  /// A new name in `directory`, a resolved guest path. Throws support::ConnectionLost and
  /// support::Stopped.
  Name MakeName(const std::string& directory, guest::Guest& guest, const support::Context& context);

  /// False once the shell that watched over this file has ended, also where another one watches by
  /// now: the file may be gone.
  [[nodiscard]] bool Watches(const Name& name) const;

  /// True the first time that it is asked about a directory.
  bool IsFirstWriteIn(const std::string& directory);

 private:
  class Sink;

  bool EnsureStarted(guest::Guest& guest, const support::Context& context);
  bool Note(const std::string& directory, std::uint64_t number, guest::Guest& guest,
            const support::Context& context);
  [[nodiscard]] bool IsWatching() const;  ///< with the turn or under `mutex_`

  PathLocks turns_;  ///< of MakeName, under one name
  // Of whoever has the turn.
  support::Clock::time_point next_start_ = support::Clock::time_point::min();
  std::set<std::string> noted_;
  std::uint64_t next_number_ = 1;

  mutable std::mutex mutex_;  ///< of what follows; never held while the guest is asked
  std::set<std::string> written_;
  // Changed by whoever has the turn, who may therefore read them without it.
  std::string token_;
  std::string notes_;  ///< the shell's own directory
  std::unique_ptr<guest::WaitingCommand> shell_;
};

/// Temporary files that are older by this than the file just written beside them, as their file
/// system dates both, belong to no write: calls end within a minute.
inline constexpr std::chrono::minutes kLeftoverAge{10};

/// Removes what earlier connections left beside `target`, which has just been written: two round
/// trips, and one for each file found. Large directories are not looked through (link_count.h).
/// What goes wrong is logged.
void SweepLeftovers(const std::string& target, guest::Guest& guest,
                    const support::Context& context);

}  // namespace tools
