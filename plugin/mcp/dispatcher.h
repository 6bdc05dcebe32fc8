#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/line_writer.h"
#include "mcp/message.h"
#include "mcp/protocol.h"
#include "mcp/reply.h"
#include "mcp/server_options.h"
#include "mcp/tool.h"
#include "mcp/tool_calls.h"

namespace mcp {

/// One connection: passes each message to its handler after the checks that all messages share.
/// Belongs to the thread that receives. Handlers never wait: tool calls run in ToolCalls,
/// everything else is answered at once.
class Dispatcher {
 public:
  /// All of these must outlive this.
  Dispatcher(const ServerOptions& options, const std::vector<std::unique_ptr<Tool>>& tools,
             LineWriter& output, Heartbeat& heartbeat)
      : options_(options),
        tools_(tools),
        output_(output),
        requests_(output),
        calls_(options, output, heartbeat) {}

  /// Handles one line from the client. Errors are answered.
  void Handle(std::string line);

  /// The client sent a line beyond the transport's limit.
  void HandleLineTooLong();

  /// Answers the open `subscriptions/listen` requests: the server ends.
  void CloseListeners();

  ToolCalls& calls() { return calls_; }

 private:
  struct Context;
  struct Method;
  static const Method kMethods[];

  void HandleMalformed(const Malformed& malformed);
  void HandleRequest(Request& request);
  [[nodiscard]] Context ContextFor(const Request& request) const;
  [[nodiscard]] static const Method& FindMethod(const Request& request, const Context& context);

  void Initialize(Request& request, const Context& context, Reply& reply);
  void Ping(Request& request, const Context& context, Reply& reply);
  void Discover(Request& request, const Context& context, Reply& reply);
  void ListTools(Request& request, const Context& context, Reply& reply);
  void CallTool(Request& request, const Context& context, Reply& reply);
  void Listen(Request& request, const Context& context, Reply& reply);

  const ServerOptions& options_;
  const std::vector<std::unique_ptr<Tool>>& tools_;
  LineWriter& output_;
  Requests requests_;
  std::list<Reply> listeners_;
  std::optional<ResultFormat> legacy_format_;  // of the legacy session, once it has begun
  ToolCalls calls_;                            // last: its threads use what is above
};

}  // namespace mcp
