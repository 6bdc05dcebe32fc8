// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "support/context.h"
#include "support/pipe.h"

/// Lines over file descriptors: MCP's stdio transport.
namespace mcp {

/// Splits the bytes of a file descriptor into lines. Not thread-safe.
class LineReader {
 public:
  /// Longest line in bytes, without its line end.
  static constexpr std::size_t kMaxLine = std::size_t{64} * 1024 * 1024;

  enum class Result {
    kLine,        ///< a line was taken
    kTooLong,     ///< a line of more than `max_line` bytes was discarded
    kNeedMore,    ///< no whole line yet: call `Fill`
    kEndOfInput,  ///< everything has been taken
  };

  /// Does not own `fd`.
  explicit LineReader(int fd, std::size_t max_line = kMaxLine) : fd_(fd), max_line_(max_line) {}

  /// Takes the next line from what has been read. Skips blank lines. A line ends with LF or
  /// CRLF; the last one needs no line end.
  Result Next(std::string& line);

  /// Reads once, up to 64 KiB; waits when there is nothing. A read error counts as end of input.
  void Fill();

 private:
  int fd_;
  std::size_t max_line_;
  std::string received_;      // and not taken
  std::size_t searched_ = 0;  // of received_: there is no line end
  bool discarding_ = false;   // the current line is too long
  bool end_of_input_ = false;
};

/// Writes whole lines to a file descriptor and never makes the sender wait. What the client does
/// not take at once, the thread that polls must write. Thread-safe.
class LineWriter {
 public:
  /// From this many unwritten bytes on there is no room, and senders of large lines should wait.
  static constexpr std::size_t kMaxPending = std::size_t{64} * 1024 * 1024;

  /// Does not own `fd`. Makes a pipe or socket non-blocking. The process must ignore SIGPIPE. Wakes
  /// the polling thread when the first line has to wait.
  LineWriter(int fd, support::WakePipe& wake, std::size_t max_pending = kMaxPending);

  /// `line` has no line end. Dropped when the reader has closed its end.
  void Write(std::string line);

  /// The descriptor to poll, for POLLOUT if lines are waiting. Call `WriteMore` then.
  [[nodiscard]] pollfd Polled() const;
  void WriteMore();

  [[nodiscard]] bool HasRoom() const;

  /// Returns when there is room, the reader has closed its end, or the context is stopped.
  void WaitForRoom(const support::Context& context);

  /// Writes everything. Gives up, with false, when the client takes nothing for `timeout` or has
  /// closed its end.
  bool Flush(std::chrono::milliseconds timeout);

 private:
  /// Writes until the client takes no more. The caller holds the lock.
  void WritePending();

  const int fd_;
  support::WakePipe& wake_;
  const std::size_t max_pending_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable room_;
  std::deque<std::string> pending_;
  std::size_t written_ = 0;  // of the first of them
  std::size_t pending_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace mcp
