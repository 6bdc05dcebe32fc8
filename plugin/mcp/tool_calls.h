#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "mcp/call_pool.h"
#include "mcp/dialect.h"
#include "mcp/in_flight.h"
#include "mcp/reply.h"
#include "mcp/scheduler.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "mcp/tool_list.h"
#include "mcp/transport.h"

namespace mcp {

/// Runs tools in the pool and answers for them: with the result, or, when the client understands
/// that and the call takes long, with the handle of a task. Thread-safe.
class ToolCalls {
 public:
  /// What the calls work with; all of it must outlive them.
  struct Surroundings {
    Transport& transport;
    InFlight& in_flight;
    Scheduler& scheduler;
    TaskStore& tasks;
    Subscriptions& subscriptions;
    ServerInfo server;
    std::chrono::milliseconds task_threshold;
  };

  ToolCalls(Surroundings surroundings, CallPool::Limits limits)
      : surroundings_(std::move(surroundings)), pool_(limits) {}

  struct Order {
    const ToolList::Entry& entry;
    nlohmann::json arguments;  ///< satisfies the tool's schema
    Dialect dialect;
    std::optional<std::string> progress_token;  ///< JSON
    bool may_become_task;
    std::size_t bytes;  ///< about what the arguments take
  };

  /// Never waits for the tool.
  void Start(Reply reply, Order order);

  /// Stops every call that runs, waits for a thread, or goes on as a task.
  void StopAll(support::StopReason reason);

  /// Waits until no call runs or waits for a thread; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
    return pool_.WaitUntilIdle(deadline);
  }

 private:
  struct Call;

  void Run(const std::shared_ptr<Call>& call);
  /// Sees to it that the client of a call that waits for a thread hears of it every second.
  void ReportWaiting(const std::weak_ptr<Call>& call);
  void Finish(Call& call, Outcome outcome);
  void Answer(const Call& call, Reply reply, Outcome outcome) const;
  void TurnIntoTask(Call& call);

  const Surroundings surroundings_;
  std::mutex mutex_;
  std::list<support::StopSource> active_;
  support::StopReason stopped_ = support::StopReason::kNone;
  CallPool pool_;  // last: its threads use everything above
};

}  // namespace mcp
