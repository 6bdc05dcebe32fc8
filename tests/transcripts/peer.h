#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fake_heartbeat.h"
#include "mcp/lines.h"
#include "mcp/server.h"
#include "support/wake_pipe.h"

namespace transcripts {

/// A server with the fake tools in a thread of this process, and a client of it. One thread at a
/// time.
class Peer {
 public:
  /// Whether the server's output is closed when `Serve` returns. A server with unread answers
  /// writes until it is destroyed and needs it open.
  enum class Output { kClosedAtExit, kLeftOpen };

  explicit Peer(const std::function<void(mcp::ServerOptions&)>& change = nullptr,
                Output output = Output::kClosedAtExit);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void Send(std::string_view bytes);

  /// The next line without its end; nothing at the end of output. Throws std::runtime_error when
  /// none comes in time.
  std::optional<std::string> ReadLine();

  /// Waits until a line has begun to arrive. Throws like ReadLine.
  void WaitForOutput();

  void CloseInput() { to_server_.write_end.Close(); }
  void CloseOutput() { from_server_.read_end.Close(); }

  /// Waits for the end of `Serve`.
  mcp::Server::Exit Exit();

  mcp::Server& server() { return *server_; }
  FakeHeartbeat& heartbeat() { return heartbeat_; }

 private:
  support::Pipe to_server_;
  support::Pipe from_server_;
  mcp::LineReader reader_;
  FakeHeartbeat heartbeat_;
  std::unique_ptr<mcp::Server> server_;
  std::future<mcp::Server::Exit> exit_;
};

}  // namespace transcripts
