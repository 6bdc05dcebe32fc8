#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/call_observer.h"
#include "mcp/call_pool.h"
#include "mcp/dialect.h"
#include "mcp/in_flight.h"
#include "mcp/outcome.h"
#include "mcp/reply.h"
#include "mcp/scheduler.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "mcp/tool_list.h"
#include "mcp/transport.h"

namespace mcp {

/// The one place that every call passes: runs tools in the pool and answers for them, with the
/// result, or, when the client understands that and the call takes long, with the handle of a task.
/// Tells the observer of each. Thread-safe.
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
    CallObserver* observer;  ///< may be null
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

  /// Tells the observer of a call that the caller answers for, because it is none: an unknown tool,
  /// arguments that do not satisfy the schema.
  void NoteRefused(std::string_view tool, const nlohmann::json& arguments,
                   const Outcome& outcome) const;

  /// Tells the observer of the calls that have not ended, for a program that leaves without them.
  void NoteUnfinished();

  /// Stops every call that runs, waits for a thread, or goes on as a task. No call is started after
  /// it: the thread that receives calls this when it receives no more.
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
  void Note(Call& call, const Outcome& outcome) const;
  void Answer(const Call& call, Reply reply, Outcome outcome) const;
  void TurnIntoTask(Call& call);

  const Surroundings surroundings_;
  std::mutex mutex_;
  std::list<Call*> active_;  // each removes itself before it ends
  CallPool pool_;            // last: its threads use everything above
};

}  // namespace mcp
