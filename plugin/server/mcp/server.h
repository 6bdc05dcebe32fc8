// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call_pool.h"
#include "mcp/lines.h"
#include "mcp/message.h"
#include "mcp/outcome.h"
#include "mcp/protocol.h"
#include "mcp/responder.h"
#include "mcp/tool.h"
#include "support/context.h"
#include "support/pipe.h"

namespace mcp {

struct ServerOptions {
  Json info;  ///< the server's name, title and version (specification: "Implementation")

  /// The `instructions` of `initialize` and `server/discover`. Called for each of these requests in
  /// the thread of `Serve`; must be quick.
  std::function<std::string()> instructions = [] { return std::string(); };

  /// Called once, in the thread of `Serve`, after the first message was handled; must be quick.
  /// Start here what should not delay the response to `initialize`.
  std::function<void()> on_first_message = [] {};

  /// How results are encoded for the client of this name (`clientInfo`). Must be quick.
  std::function<ResultFormat(std::string_view client)> result_format = [](std::string_view) {
    return ResultFormat();
  };

  CallPool::Limits limits;

  /// Whether calls wait for a connection that is being opened. Must be quick.
  std::function<bool()> is_connecting = [] { return false; };

  /// How long calls may go on after the end of input, or of connecting, so that quick ones are
  /// still answered.
  std::chrono::milliseconds end_of_input_grace{500};

  /// How long stopped calls have to end: they have processes in the guest to stop.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(3);

  /// How long a client may take nothing before the last answers are dropped.
  std::chrono::milliseconds client_timeout = std::chrono::seconds(2);

  /// Bytes that a client may leave unread before no more of its messages are read.
  std::size_t max_unread = LineWriter::kMaxPending;

  CallObserver observer = nullptr;  ///< may be null

  /// The time of calls. Tests replace it. Thread-safe.
  std::function<support::Clock::time_point()> now = support::Clock::now;
};

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

  /// Sends the progress that is due. Any thread; `Serve` does it every second.
  void SendProgress();

 private:
  // Handlers never wait: tool calls run in `pool_`, everything else is answered at once.
  support::StopReason ReceiveAll();
  /// After the end of input.
  void WaitForQuickCalls();
  void Handle(std::string line);
  void Refuse(const std::optional<RequestId>& id, const ProtocolError& error);
  void HandleRequest(Message& request);
  [[nodiscard]] RequestContext ContextFor(const Message& request) const;
  void Initialize(const Message& request, Responder& reply);
  void Discover(Responder& reply);
  void ListTools(const Message& request, const RequestContext& context, Responder& reply);
  void Listen(const Message& request, Responder& reply);
  void CloseListeners();

  // Calls (tool_calls.cc).
  struct Call;

  /// Runs the tool in the pool, or refuses the call. Throws ProtocolError, and leaves `reply`
  /// alone, unless the request has the form of a call.
  void StartCall(Message& request, const RequestContext& context, Responder& reply);
  void RunCall(const std::shared_ptr<Call>& call);
  /// Records the outcome and sends it.
  void FinishCall(const std::shared_ptr<Call>& call, Outcome outcome);
  /// Completes the outcome.
  void Record(Call& call, Outcome& outcome) const;
  /// Stops every call that runs or waits for a thread. If one does not end in time, records those
  /// and returns false.
  bool StopCalls(support::StopReason reason);
  std::vector<std::shared_ptr<Call>> ActiveCalls();
  /// Sends progress every second. Returns the milliseconds until the next time; -1 while no call
  /// runs.
  int ProgressIfDue();

  const ServerOptions options_;
  const std::vector<Tool> tools_;
  const int input_fd_;
  std::atomic<support::StopReason> stop_reason_ = support::StopReason::kNone;
  support::WakePipe wake_;  // of the thread of `Serve`
  LineReader reader_;
  LineWriter writer_;
  OpenRequests requests_;
  std::vector<Responder> listeners_;           // `subscriptions/listen` requests
  std::optional<ResultFormat> legacy_format_;  // of the legacy session, once it has begun
  std::uint64_t last_number_ = 0;              // of the calls received
  support::Clock::time_point next_progress_;
  std::mutex active_mutex_;
  std::set<std::shared_ptr<Call>> active_;  // calls that run or wait for a thread
  CallPool pool_;                           // last: its threads use what is above
};

}  // namespace mcp
