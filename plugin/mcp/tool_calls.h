#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mcp/call_pool.h"
#include "mcp/line_writer.h"
#include "mcp/reply.h"
#include "mcp/server_options.h"
#include "mcp/tool.h"

namespace mcp {

/// Runs all calls in the pool, answers them and sends progress. Thread-safe.
class ToolCalls {
 public:
  /// All of these must outlive this.
  ToolCalls(const ServerOptions& options, LineWriter& output, Heartbeat& heartbeat)
      : options_(options),
        output_(output),
        heartbeat_(heartbeat),
        pool_(options.limits),
        waiting_pool_(WaitingLimits(options.limits)) {}
  ~ToolCalls() { heartbeat_.Stop(); }
  ToolCalls(const ToolCalls&) = delete;
  ToolCalls& operator=(const ToolCalls&) = delete;

  struct Invocation {
    Tool& tool;
    nlohmann::json arguments;  ///< satisfies the tool's schema
    Era era;
    ResultFormat format;
    std::optional<std::string> progress_token;  ///< JSON
    std::size_t bytes;                          ///< of the request
  };

  /// Never waits for the tool.
  void Start(Reply reply, Invocation invocation);

  /// Records a call that was rejected before it ran.
  void RecordRejected(std::string_view tool, const nlohmann::json& arguments,
                      const Outcome& outcome) const;

  /// Records the calls that have not ended, for a program that exits without them.
  void RecordUnfinished();

  /// Stops every call that runs or waits for a thread. Call it when no more calls are started.
  void StopAll(support::StopReason reason);

  /// Waits until no call runs or waits for a thread; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
    return pool_.WaitUntilIdle(deadline) && waiting_pool_.WaitUntilIdle(deadline);
  }

 private:
  struct Call;

  /// Each of sixteen processes may have a reader, and some clients send two calls at once.
  static CallPool::Limits WaitingLimits(CallPool::Limits limits) {
    limits.threads = limits.open_ended_threads = 32;
    return limits;
  }

  void Run(const std::shared_ptr<Call>& call);
  void Finish(const std::shared_ptr<Call>& call, Outcome outcome);
  void Record(Call& call, const Outcome& outcome) const;
  [[nodiscard]] ResultLimit LimitFor(const Call& call) const;
  void Answer(const Call& call, Reply& reply, Outcome outcome) const;
  /// Sends progress. Returns whether another beat is needed.
  bool Beat();
  bool BeatFor(Call& call);

  const ServerOptions& options_;
  LineWriter& output_;
  Heartbeat& heartbeat_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Call>> active_;
  // Last: their threads use everything above.
  CallPool pool_;
  CallPool waiting_pool_;  // of calls that mostly wait
};

}  // namespace mcp
