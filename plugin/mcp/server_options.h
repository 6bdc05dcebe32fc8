#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "mcp/call_pool.h"
#include "mcp/outcome.h"
#include "support/context.h"

namespace mcp {

/// The time, for progress. Tests replace it. Thread-safe.
class Heartbeat {
 public:
  virtual ~Heartbeat() = default;

  [[nodiscard]] virtual support::Clock::time_point Now() const { return support::Clock::now(); }

  /// Gets what sends progress, and null before that ends. A test that moves the time calls it.
  virtual void SetBeat(std::function<void()> /*beat*/) {}
};

struct ServerOptions {
  ServerInfo info;

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

  /// How long calls may go on after the end of input, so that quick ones are still answered.
  std::chrono::milliseconds end_of_input_grace{500};

  /// How long stopped calls have to end: they have processes in the guest to stop.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(3);

  /// How long a client may take nothing before the last answers are dropped.
  std::chrono::milliseconds client_timeout = std::chrono::seconds(2);

  CallObserver observer = nullptr;  ///< may be null

  /// For tests; null is the real one. Must outlive the server.
  Heartbeat* heartbeat = nullptr;
};

}  // namespace mcp
