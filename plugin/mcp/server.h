#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "mcp/lines.h"
#include "mcp/message.h"
#include "mcp/protocol.h"
#include "mcp/reply.h"
#include "mcp/server_options.h"
#include "mcp/tool.h"
#include "mcp/tool_calls.h"
#include "support/context.h"
#include "support/wake_pipe.h"

namespace mcp {

/// An MCP server for tools over one connection, for legacy and modern clients. The transport is
/// stdio (specification: basic/transports/stdio): lines over two file descriptors.
class Server {
 public:
  /// `tools` are listed in this order. Does not own the file descriptors (pipes, sockets, files or
  /// terminals); the output must stay open until the destructor. Ignores SIGPIPE in this process.
  Server(ServerOptions options, std::vector<Tool> tools, int input_fd, int output_fd);

  struct Exit {
    /// kEndOfInput, also when the client closed our output, or what `Stop` was given.
    support::StopReason reason;

    /// False when a stopped tool did not end. The destructor would wait for it; a program that must
    /// exit calls std::_Exit.
    bool all_calls_ended;
  };

  /// Serves until the end of input or `Stop`. Then stops the calls and waits until the client has
  /// read all answers, as long as the options say. Call it once.
  Exit Serve();

  /// Ends `Serve`, now or when it begins. Any thread, but not a signal handler.
  void Stop(support::StopReason reason);

 private:
  // Handlers never wait: tool calls run in `calls_`, everything else is answered at once.
  support::StopReason ReceiveAll();
  void Handle(std::string line);
  void HandleMalformed(const Malformed& malformed);
  void HandleRequest(Request& request);
  [[nodiscard]] RequestContext ContextFor(const Request& request) const;
  void Initialize(const Request& request, Reply& reply);
  void Discover(Reply& reply);
  void ListTools(const Request& request, const RequestContext& context, Reply& reply);
  void Listen(const Request& request, Reply& reply);
  void CloseListeners();

  const ServerOptions options_;
  const std::vector<Tool> tools_;
  const int input_fd_;
  const int output_fd_;
  Heartbeat heartbeat_;
  std::atomic<support::StopReason> stop_reason_ = support::StopReason::kNone;
  support::WakePipe stopped_;
  LineReader reader_;
  LineWriter writer_;
  Requests requests_;
  std::vector<Reply> listeners_;               // `subscriptions/listen` requests
  std::optional<ResultFormat> legacy_format_;  // of the legacy session, once it has begun
  ToolCalls calls_;                            // last: its threads use what is above
};

}  // namespace mcp
