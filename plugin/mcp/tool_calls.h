#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "mcp/call_pool.h"
#include "mcp/lines.h"
#include "mcp/message.h"
#include "mcp/outcome.h"
#include "mcp/protocol.h"
#include "mcp/reply.h"
#include "mcp/server_options.h"
#include "mcp/tool.h"

namespace mcp {

/// Runs all calls in the pool, answers them and sends progress. One thread starts calls; the rest
/// is thread-safe.
class ToolCalls {
 public:
  /// All of these must outlive this.
  ToolCalls(const ServerOptions& options, const std::vector<Tool>& tools, LineWriter& output,
            Heartbeat& heartbeat)
      : options_(options),
        tools_(tools),
        output_(output),
        heartbeat_(heartbeat),
        pool_(options.limits) {
    heartbeat_.SetBeat([this] { Beat(); });
  }
  ~ToolCalls() { heartbeat_.SetBeat(nullptr); }

  /// Runs the tool in the pool, or refuses the call. Never waits for the tool. Throws
  /// ProtocolError, and leaves `reply` alone, unless the request has the form of a call.
  void Start(Request& request, const RequestContext& context, Reply& reply);

  /// Sends progress if it is time for that. Returns the milliseconds until the next time; -1 while
  /// no call runs. Call it in the thread that starts calls.
  int BeatIfDue();

  /// Records the calls that have not ended, for a program that exits without them.
  void RecordUnfinished();

  /// Stops every call that runs or waits for a thread. Call it when no more calls are started.
  void StopAll(support::StopReason reason);

  /// Waits until no call runs or waits for a thread; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
    return pool_.WaitUntilIdle(deadline);
  }

 private:
  struct Call;

  void Run(const std::shared_ptr<Call>& call);
  /// Records the outcome and sends it.
  void Finish(const std::shared_ptr<Call>& call, Outcome outcome);
  /// Completes the outcome.
  void Record(Call& call, Outcome& outcome) const;
  std::vector<std::shared_ptr<Call>> ActiveCalls();
  /// Sends progress.
  void Beat();

  const ServerOptions& options_;
  const std::vector<Tool>& tools_;
  LineWriter& output_;
  Heartbeat& heartbeat_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Call>> active_;
  std::uint64_t last_number_ = 0;  // of the calls received
  support::Clock::time_point next_beat_;
  CallPool pool_;  // last: its threads use everything above
};

}  // namespace mcp
