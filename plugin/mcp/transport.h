#pragma once

#include <string>

#include "mcp/line_reader.h"
#include "mcp/line_writer.h"
#include "support/wake_pipe.h"

namespace mcp {

/// MCP's stdio transport over two file descriptors (specification: basic/transports/stdio): pipes,
/// sockets, files or terminals, which it does not own. `Receive` belongs to one thread; any thread
/// may call the rest.
class Transport {
 public:
  /// Ignores SIGPIPE in this process from now on.
  Transport(int input_fd, int output_fd);

  enum class Received {
    kLine,          ///< `line` holds one, trimmed, not blank
    kLineTooLong,   ///< a line beyond LineReader::kMaxLine was discarded
    kEndOfInput,    ///< the client sends no more
    kOutputClosed,  ///< the client no longer reads
    kInterrupted,   ///< `Interrupt` was called
  };

  /// Waits for the next line. Reads nothing while the output has no room, so that a client that
  /// does not read cannot make memory grow.
  Received Receive(std::string& line);

  /// Makes `Receive` return kInterrupted from now on, and the output's `Flush` wait only once.
  void Interrupt();

  LineWriter& output() { return writer_; }

 private:
  int input_fd_;
  int output_fd_;
  support::WakePipe interrupted_;
  support::WakePipe output_closed_;
  LineReader reader_;
  LineWriter writer_;
};

}  // namespace mcp
