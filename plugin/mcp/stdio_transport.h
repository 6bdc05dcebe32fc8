#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "mcp/line_reader.h"
#include "mcp/line_writer.h"
#include "mcp/transport.h"
#include "support/wake_pipe.h"

namespace mcp {

/// MCP's stdio transport over two file descriptors (specification: basic/transports/stdio). They
/// may be pipes, sockets, files or terminals; this does not own them.
class StdioTransport : public Transport {
 public:
  /// Ignores SIGPIPE in this process from now on: a client that went away is an error of write().
  /// A client that has ended its input and left the output full is gone once it has taken nothing
  /// for `patience`.
  StdioTransport(int input_fd, int output_fd, std::chrono::milliseconds patience);

  Received Receive(std::string& line) override;
  void Send(Line line) override { writer_.Write(std::move(line)); }
  [[nodiscard]] bool HasRoom() const override { return writer_.HasRoom(); }
  void WaitForRoom() override { writer_.WaitForRoom(); }
  void Interrupt() override { interrupted_.Wake(); }
  void GiveUpWaiting() override { writer_.GiveUpWaiting(); }
  [[nodiscard]] std::uint64_t BytesTaken() const override { return writer_.bytes_taken(); }
  bool Flush(std::chrono::steady_clock::time_point deadline) override {
    return writer_.Flush(deadline);
  }

 private:
  int input_fd_;
  int output_fd_;
  std::chrono::milliseconds patience_;
  support::WakePipe interrupted_;
  support::WakePipe output_closed_;
  LineReader reader_;
  LineWriter writer_;
};

}  // namespace mcp
