#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "mcp/line.h"

namespace mcp {

/// Carries messages as whole lines between the client and the server.
///
/// Threads: `Receive` belongs to one thread; everything else may be called by any.
class Transport {
 public:
  virtual ~Transport() = default;

  enum class Received {
    kLine,          ///< `line` holds one, without its line end, not blank
    kLineTooLong,   ///< a line beyond the transport's limit was read and discarded
    kEndOfInput,    ///< the client will send no more
    kOutputClosed,  ///< nobody reads our answers any more
    kInterrupted,   ///< `Interrupt` was called
  };

  /// Waits for the next line. Reads nothing while the client leaves more unread of ours than the
  /// transport is willing to keep, so that a client that does not read cannot make memory grow. One
  /// that has also ended its input may be given up as gone: kEndOfInput, whatever it has sent.
  virtual Received Receive(std::string& line) = 0;

  /// Sends one line, to which the line end is added. Never waits for the client. Lines leave in
  /// the order of the calls and are never mixed. Once the output is closed, lines are dropped.
  virtual void Send(Line line) = 0;

  /// Whether the client leaves no more unread than the transport is willing to keep.
  [[nodiscard]] virtual bool HasRoom() const = 0;

  /// Waits until there is room for more output, or the output is closed, or `GiveUpWaiting` was
  /// called. To be called before a large message is made; never by the thread that receives.
  virtual void WaitForRoom() = 0;

  /// Makes `Receive` return kInterrupted, now and ever after.
  virtual void Interrupt() = 0;

  /// Makes `WaitForRoom` return at once from now on: the server is about to end.
  virtual void GiveUpWaiting() = 0;

  /// How many bytes the client has taken so far: while it grows, the client reads, however slowly.
  [[nodiscard]] virtual std::uint64_t BytesTaken() const = 0;

  /// Waits until everything sent is on its way; false when it was not by the deadline,
  /// or earlier when it cannot be: nobody reads any more.
  virtual bool Flush(std::chrono::steady_clock::time_point deadline) = 0;
};

}  // namespace mcp
