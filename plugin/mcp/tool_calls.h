#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "mcp/call_pool.h"
#include "mcp/line_writer.h"
#include "mcp/outcome.h"
#include "mcp/reply.h"
#include "mcp/server_options.h"
#include "mcp/tool.h"

namespace mcp {

/// Runs all calls in the pool, answers them and sends progress. One thread starts and rejects
/// calls; the rest is thread-safe.
class ToolCalls {
 public:
  /// All of these must outlive this.
  ToolCalls(const ServerOptions& options, LineWriter& output, Heartbeat& heartbeat)
      : options_(options), output_(output), heartbeat_(heartbeat), pool_(options.limits) {}
  ~ToolCalls() { heartbeat_.Stop(); }
  ToolCalls(const ToolCalls&) = delete;
  ToolCalls& operator=(const ToolCalls&) = delete;

  struct Invocation {
    Tool* tool;  ///< null if there is none of that name
    std::string name;
    nlohmann::json arguments;
    Era era;
    ResultFormat format;
    std::optional<std::string> progress_token;  ///< JSON
    std::size_t bytes;                          ///< of the request
  };

  /// Runs a call whose arguments satisfy the tool's schema. Never waits for the tool.
  void Start(Reply reply, Invocation invocation);

  /// Answers a call without running it.
  void Reject(Reply reply, Invocation call, Outcome outcome);

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
  /// Encodes the outcome, records it, sends it.
  void Finish(const std::shared_ptr<Call>& call, Outcome outcome);
  void Record(Call& call, const EncodedOutcome& outcome) const;
  /// Sends progress. Returns whether another beat is needed.
  bool Beat();
  bool BeatFor(Call& call);

  const ServerOptions& options_;
  LineWriter& output_;
  Heartbeat& heartbeat_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Call>> active_;
  std::uint64_t last_number_ = 0;  // of the calls received
  CallPool pool_;                  // last: its threads use everything above
};

}  // namespace mcp
