#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mcp/dialect.h"
#include "mcp/in_flight.h"
#include "mcp/message.h"
#include "mcp/reply.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "mcp/tool_calls.h"
#include "mcp/tool_list.h"
#include "mcp/transport.h"

namespace mcp {

/// Turns each message into the handler that it is for, after the checks that all messages share.
/// One per connection; used by the thread that receives. Handlers never wait: calls of tools are
/// handed to ToolCalls, everything else is answered at once.
class Dispatcher {
 public:
  /// The answers of a batch are kept until its slowest call has ended. Beyond this, of all batches
  /// together, no batch is begun: its requests are answered with errors. Of those that were begun
  /// before, the first answer is still kept, and what is shorter than an error; in the place of
  /// each other one there is an error that says so.
  static constexpr std::size_t kMaxBatchBytes = std::size_t{64} * 1024 * 1024;

  /// All of it must outlive the dispatcher.
  struct Parts {
    const ServerInfo& server;
    const std::function<std::string()>& instructions;
    const ToolList& tools;
    Transport& transport;
    InFlight& in_flight;
    ToolCalls& calls;
    TaskStore& tasks;
    Subscriptions& subscriptions;
  };

  explicit Dispatcher(Parts parts) : parts_(parts) {}

  /// One line from the client. One that cannot be handled is answered with an error.
  void Handle(std::string line);

  /// The client sent a line beyond the transport's limit.
  void HandleLineTooLong();

 private:
  struct Context;
  struct Method;
  static const Method kMethods[];

  void HandleLine(std::string line);
  void HandleBatch(Batch batch);
  void HandleMessage(Message message, std::size_t bytes, bool in_batch,
                     const std::shared_ptr<ReplySink>& sink);
  void Refuse(const Malformed& malformed, ReplySink& sink) const;
  void HandleNotification(const Notification& notification);
  void HandleRequest(Request request, std::size_t bytes, bool in_batch, Reply reply);
  [[nodiscard]] Context ContextFor(const Request& request) const;
  [[nodiscard]] static const Method& FindMethod(const Request& request, const Context& context);

  void Initialize(Request& request, const Context& context, Reply& reply);
  void Ping(Request& request, const Context& context, Reply& reply);
  void Discover(Request& request, const Context& context, Reply& reply);
  void ListTools(Request& request, const Context& context, Reply& reply);
  void CallTool(Request& request, const Context& context, Reply& reply);
  void Listen(Request& request, const Context& context, Reply& reply);
  void GetTask(Request& request, const Context& context, Reply& reply);
  void UpdateTask(Request& request, const Context& context, Reply& reply);
  void CancelTask(Request& request, const Context& context, Reply& reply);

  /// Answers with a result that says no more than that it is one.
  void Acknowledge(const Context& context, Reply& reply) const;

  const Parts parts_;
  /// Of the answers that batches keep, which may outlive this.
  const std::shared_ptr<std::atomic<std::size_t>> batch_bytes_ =
      std::make_shared<std::atomic<std::size_t>>(std::size_t{0});
  std::optional<Version> session_;  // of the legacy era, once `initialize` was answered
};

}  // namespace mcp
