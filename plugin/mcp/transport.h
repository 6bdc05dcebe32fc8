#pragma once

#include <chrono>
#include <string>

#include "mcp/line.h"

namespace mcp {

/// Carries messages as whole lines between client and server. `Receive` belongs to one thread; any
/// thread may call the rest.
class Transport {
 public:
  virtual ~Transport() = default;

  enum class Received {
    kLine,          ///< `line` holds one, trimmed, not blank
    kLineTooLong,   ///< a line beyond the transport's limit was discarded
    kEndOfInput,    ///< the client sends no more
    kOutputClosed,  ///< the client no longer reads
    kInterrupted,   ///< `Interrupt` was called
  };

  /// Waits for the next line. Reads nothing while there is no room for output, so that a client
  /// that does not read cannot make memory grow.
  virtual Received Receive(std::string& line) = 0;

  /// Sends one line and adds the line end. Never waits for the client. Lines leave in the order of
  /// the calls. Dropped once the output is closed.
  virtual void Send(Line line) = 0;

  /// Whether the unread output is within the transport's limit.
  [[nodiscard]] virtual bool HasRoom() const = 0;

  /// Waits until there is room, the output is closed, or `GiveUpWaiting` was called. Call it before
  /// composing a large message; never from the thread that receives.
  virtual void WaitForRoom() = 0;

  /// Makes `WaitForRoom` return at once from now on.
  virtual void GiveUpWaiting() = 0;

  /// Makes `Receive` return kInterrupted from now on, and `Flush` wait only once.
  virtual void Interrupt() = 0;

  /// Waits until everything is sent. Gives up, with false, when the client takes nothing for
  /// `patience` or has closed the output.
  virtual bool Flush(std::chrono::milliseconds patience) = 0;
};

}  // namespace mcp
