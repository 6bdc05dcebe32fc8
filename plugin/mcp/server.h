#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mcp/call_observer.h"
#include "mcp/call_pool.h"
#include "mcp/dialect.h"
#include "mcp/scheduler.h"
#include "mcp/tool.h"
#include "mcp/transport.h"
#include "support/context.h"

namespace mcp {

struct ServerOptions {
  ServerInfo info;

  /// What `initialize` and `server/discover` tell the agent about this server. Called once for
  /// each of these requests, in the thread of `Serve`; must be quick.
  std::function<std::string()> instructions = [] { return std::string(); };

  /// Called once, in the thread of `Serve`, soon after the first response was written; must be
  /// quick. The place to begin what should not delay the first answer.
  std::function<void()> on_first_response = [] {};

  /// After this time a call is answered with a task handle, if its client understands those.
  std::chrono::milliseconds task_threshold = std::chrono::seconds(5);

  CallPool::Limits limits;

  /// How long calls may go on after the end of input, so that quick ones are still answered.
  std::chrono::milliseconds end_of_input_grace{500};

  /// How long calls have to end once they are stopped: they have processes in the guest to end.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(3);

  /// How long the client has to take the last answers.
  std::chrono::milliseconds flush_grace = std::chrono::seconds(1);

  /// A client that has ended its input has longer: until it has taken nothing for this long.
  std::chrono::milliseconds client_patience = std::chrono::seconds(2);

  /// Is told of every call; may be null. Must outlive the server.
  CallObserver* observer = nullptr;

  /// The time, for tests; null is the real one. Must outlive the server. The graces above are
  /// always real time.
  Scheduler* scheduler = nullptr;
};

/// An MCP server for tools, for clients of the legacy versions and of 2026-07-28, over one
/// connection.
class Server {
 public:
  /// Throws std::invalid_argument when two tools have the same name or an input schema uses what
  /// cannot be checked (see Schema).
  Server(ServerOptions options, std::vector<std::unique_ptr<Tool>> tools);

  /// Waits for calls that are still running.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  struct Exit {
    /// kEndOfInput, also when the client closed our output, or what `Stop` was given.
    support::StopReason reason;

    /// False when a tool did not end although it was stopped. The destructor would wait for it;
    /// a program that wants to end leaves with std::_Exit.
    bool all_calls_ended;
  };

  /// Serves until the end of input or `Stop`, then stops the calls and returns within the graces
  /// of the options, 4.5 s by default, at once when no call is running; after the end of input
  /// not before the client has taken all answers, unless it is gone. Does not own the file
  /// descriptors; the output must stay open as long as this object, which may still write to it
  /// when the client has not taken all. Ignores SIGPIPE in this process, and has glibc give large
  /// blocks back when they are freed. To be called once.
  Exit Serve(int input_fd, int output_fd);

  /// The same over another transport.
  Exit Serve(std::unique_ptr<Transport> transport);

  /// Ends `Serve`, now or when it begins. Any thread, but not a signal handler.
  void Stop(support::StopReason reason);

 private:
  struct Connection;

  support::StopReason ReceiveAll();
  Exit ShutDown(support::StopReason reason);
  bool FlushAll(support::StopReason reason);

  const ServerOptions options_;
  struct Parts;
  std::unique_ptr<Parts> parts_;

  std::mutex mutex_;
  std::optional<support::StopReason> stop_requested_;
};

}  // namespace mcp
