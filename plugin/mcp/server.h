#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mcp/heartbeat.h"
#include "mcp/server_options.h"
#include "mcp/tool.h"
#include "mcp/transport.h"
#include "support/context.h"

namespace mcp {

class Dispatcher;

/// An MCP server for tools over one connection, for legacy and modern clients.
class Server {
 public:
  /// `tools` are listed in this order.
  Server(ServerOptions options, std::vector<std::unique_ptr<Tool>> tools);

  /// Waits for calls that are still running.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  struct Exit {
    /// kEndOfInput, also when the client closed our output, or what `Stop` was given.
    support::StopReason reason;

    /// False when a stopped tool did not end. The destructor would wait for it; a program that must
    /// exit calls std::_Exit.
    bool all_calls_ended;
  };

  /// Serves until the end of input or `Stop`. Then stops the calls, waits until the client has read
  /// all answers or its patience is over, and returns: at once if no call is running, otherwise
  /// within the graces of the options. Call it once. Does not own the file descriptors; the output
  /// must stay open until the destructor. Ignores SIGPIPE in this process.
  Exit Serve(int input_fd, int output_fd);

  /// Ends `Serve`, now or when it begins. Any thread, but not a signal handler.
  void Stop(support::StopReason reason);

 private:
  support::StopReason ReceiveAll();

  const ServerOptions options_;
  const std::vector<std::unique_ptr<Tool>> tools_;
  ThreadHeartbeat heartbeat_;

  std::mutex mutex_;  // guards stop_requested_ and the setting of transport_
  std::optional<support::StopReason> stop_requested_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace mcp
