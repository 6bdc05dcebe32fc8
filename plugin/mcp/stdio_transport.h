#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "mcp/line_reader.h"
#include "mcp/line_writer.h"
#include "mcp/transport.h"
#include "support/wake_pipe.h"

namespace mcp {

/// MCP's stdio transport over two file descriptors (specification: basic/transports/stdio): pipes,
/// sockets, files or terminals, which it does not own.
class StdioTransport : public Transport {
 public:
  /// Ignores SIGPIPE in this process from now on. A client that has ended its input, left the
  /// output full and takes nothing for `patience` counts as gone.
  StdioTransport(int input_fd, int output_fd, std::chrono::milliseconds patience);

  Received Receive(std::string& line) override;
  void Send(Line line) override { writer_.Write(std::move(line)); }
  [[nodiscard]] bool HasRoom() const override { return writer_.HasRoom(); }
  void WaitForRoom() override { writer_.WaitForRoom(); }
  void GiveUpWaiting() override { writer_.GiveUpWaiting(); }
  void Interrupt() override {
    writer_.Hurry();
    interrupted_.Wake();
  }
  bool Flush(std::chrono::milliseconds patience) override { return writer_.Flush(patience); }

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
