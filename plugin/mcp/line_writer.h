#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>

#include "mcp/line.h"
#include "support/wake_pipe.h"

namespace mcp {

/// Writes whole lines to a file descriptor without ever making the sender wait. What is large, or
/// what the reader at the other end does not take at once, is kept and written by a thread of this
/// object.
///
/// All members may be called by any thread.
class LineWriter {
 public:
  /// From this many unwritten bytes on there is "no room": whoever has more should wait. Counted as
  /// they are kept (Line::kept_bytes), until a line is written as a whole.
  static constexpr std::size_t kMaxPending = std::size_t{64} * 1024 * 1024;

  /// Does not own `fd`. A pipe is switched to non-blocking until this is destroyed. `closed` is set
  /// when the reader has gone, so that a poll() elsewhere notices. The process must ignore SIGPIPE.
  LineWriter(int fd, support::WakePipe& closed, std::size_t max_pending = kMaxPending);

  /// Drops what has not been written; call `Flush` before to have it written.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// `line` has no line end. Dropped when the reader has gone.
  void Write(Line line);

  [[nodiscard]] bool HasRoom() const;

  /// How much has been written: as long as it grows, there is somebody who reads.
  [[nodiscard]] std::uint64_t bytes_taken() const { return bytes_taken_; }

  /// Returns when there is room, or there will never be need for it: the reader has gone, or
  /// `GiveUpWaiting` was called.
  void WaitForRoom();
  void GiveUpWaiting();

  /// Waits until everything is written; false when it was not by the deadline or cannot be.
  bool Flush(std::chrono::steady_clock::time_point deadline);

 private:
  enum class Progress { kDone, kWouldBlock, kClosed };

  struct Pending {
    Line line;
    std::size_t bytes = 0;  // what it was reckoned as
  };

  /// Writes from `rest`, cutting off what was written.
  Progress WriteSome(std::string_view& rest);

  Progress WriteWhole(Line& line);
  void WaitUntilWritable() const;
  void Enqueue(Line line);
  void Close();
  void Drain();

  const int fd_;
  support::WakePipe& closed_wake_;
  const std::size_t max_pending_;
  bool is_socket_ = false;
  int restore_flags_ = -1;  // of fd_; -1 when they were left alone

  std::atomic<std::uint64_t> bytes_taken_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Pending> pending_;  // the first is being written by the thread
  std::size_t pending_bytes_ = 0;
  bool closed_ = false;
  bool give_up_ = false;
  std::atomic<bool> stopping_ = false;
  support::WakePipe stop_wake_;
  std::thread drain_;
};

}  // namespace mcp
