// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "shell/output_log.h"
#include "shell/shell_session.h"
#include "support/context.h"

namespace shell {

/// The long-running processes of this server, at most kMaxProcesses, and those that have ended.
/// A process ends with its connection; what it had printed stays readable. Thread-safe.
class Processes {
 public:
  /// The youngest of those that have ended stay readable.
  static constexpr std::size_t kMaxEnded = 64;

  // In bytes, of each.
  static constexpr std::size_t kMaxOutput = std::size_t{1} << 20;
  /// Input that waits for the process to read.
  static constexpr std::size_t kMaxInput = std::size_t{1} << 20;

  /// How long a login shell may take in its startup files.
  static constexpr std::chrono::seconds kProfileTimeout{20};

  /// A process gets this time to react to TERM, then KILL.
  static constexpr std::chrono::seconds kTermTimeout{5};

  /// Stops all that run: TERM, a second later KILL. Does not wait for their end.
  ~Processes();

  struct Description {
    std::string id;         ///< "p1", "p2", …
    std::string command;    ///< as a line for a shell
    std::string directory;  ///< as the agent named it
    std::chrono::system_clock::time_point started;
  };

  struct State {
    bool running = false;
    std::optional<int> exit_status;  ///< 128+N after signal N
    std::string problem;             ///< why it ended without an exit status
  };

  struct Output {
    State state;
    OutputLog::Piece piece;
  };

  /// Returns what runs instead.
  using OnQueued = std::function<std::string()>;

  /// Starts a command, and returns its id once it runs. Calls `on_queued` each second while it
  /// waits for a channel. Throws support::Error if too many run, the guest refuses it or no
  /// channel becomes free in time, support::Stopped, and support::ConnectionLost, which says
  /// whether it may have run.
  std::string Start(const LoginCommand& command, const std::string& directory, Launcher& launcher,
                    const OnQueued& on_queued, const support::Context& context);

  enum class Wait { kForOutput, kForEnd };

  /// Output from `offset` on (OutputLog::Resolve), at most `maximum` bytes. Waits, no longer than
  /// `time`, for output behind the offset, or only for the end of the process. Throws
  /// support::Error for an unknown id, support::Stopped.
  Output Read(std::string_view id, std::optional<std::int64_t> offset, Wait wait,
              std::chrono::milliseconds time, const support::Context& context,
              std::size_t maximum = kMaxRead);

  /// After this time without output, a line that is not complete may be a prompt.
  static constexpr std::chrono::milliseconds kPromptWait{200};
  using Look = std::function<bool(const OutputLog::Piece& piece)>;

  /// Shows the output from `offset` on, piece by piece, and an empty piece after kPromptWait
  /// without any, until `look` returns true, the process ends, or the time is over. Output waits
  /// for `look`, which runs on any thread, must be quick, and call nothing here. Does not count as
  /// a read. Throws as Read does.
  void Watch(std::string_view id, std::optional<std::int64_t> offset, const Look& look,
             std::chrono::milliseconds time, const support::Context& context);

  struct Input {
    std::string_view input;
    bool end_input = false;
    std::string_view signal;  ///< without "SIG"; empty: none
  };

  /// Waits, no longer than `time`, until the process has ended or, if there is only input, has
  /// taken it. Throws support::Error if it takes no input, or the id is unknown, and
  /// support::Stopped.
  State Write(std::string_view id, const Input& request, std::chrono::milliseconds time,
              const support::Context& context);

  /// Stops it, and forgets it at once.
  void Stop(std::string_view id);

  /// The oldest first.
  std::vector<std::pair<Description, State>> List();

 private:
  struct Log final : OutputSink {
    bool OnOutput(Stream stream, std::string_view bytes) override;
    OutputLog output{kMaxOutput};
    std::vector<const std::function<void()>*> watchers;  ///< called after each output
  };
  struct Entry {
    Description description;
    std::shared_ptr<ShellSession> session;
    std::shared_ptr<Log> log = std::make_shared<Log>();
    std::optional<support::Clock::time_point> kill_at = std::nullopt;
  };

  /// Throws if too many run.
  std::shared_ptr<Entry> Add(const std::string& command, const std::string& directory);
  /// Kills processes that ignore TERM.
  void KillLate();

  // With the lock held.
  [[nodiscard]] std::shared_ptr<Entry> Find(std::string_view id) const;
  [[nodiscard]] std::string ListRunning() const;

  const std::shared_ptr<SessionLock> session_lock_ =
      std::make_shared<SessionLock>();  // of what follows
  std::vector<std::shared_ptr<Entry>> entries_;
  std::uint64_t last_id_ = 0;
  bool closing_ = false;
  std::thread killer_;  // from the first TERM on
};

}  // namespace shell
