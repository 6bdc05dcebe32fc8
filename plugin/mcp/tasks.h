#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "mcp/heartbeat.h"
#include "mcp/outcome.h"
#include "support/context.h"

/// Calls that outlive their request: the extension `io.modelcontextprotocol/tasks` (SEP-2663).
namespace mcp {

/// The tasks of a server. Each is kept for an hour from its creation, and for kTimeToFetch from its
/// end. Thread-safe.
class TaskStore {
 public:
  static constexpr std::chrono::milliseconds kTimeToLive = std::chrono::hours(1);
  static constexpr std::chrono::milliseconds kPollInterval = std::chrono::seconds(1);
  static constexpr std::chrono::milliseconds kTimeToFetch = std::chrono::minutes(5);

  /// A task must not expire early, so no more are created beyond these.
  static constexpr std::size_t kMaxTasks = 256;
  static constexpr std::size_t kMaxResultBytes = std::size_t{64} * 1024 * 1024;

  /// `heartbeat` must outlive this.
  TaskStore(const Heartbeat& heartbeat, ServerInfo server,
            std::size_t max_result_bytes = kMaxResultBytes)
      : heartbeat_(heartbeat), server_(std::move(server)), max_result_bytes_(max_result_bytes) {}

  /// Creates a working task and returns its id, 128 random bits in hexadecimal. Empty when there is
  /// no room. `work` stops what the task does.
  [[nodiscard]] std::string Create(support::StopSource work);

  /// Ends a task; `limit` is that of its result. Cancelled is "cancelled", a protocol error
  /// "failed", everything else "completed".
  void Finish(const std::string& id, Outcome outcome, const ResultLimit& limit = {});

  /// Stops the work, which may still complete. Does nothing when it has ended. Throws
  /// ProtocolError (kInvalidParams) for an unknown id.
  void Cancel(const std::string& id);

  [[nodiscard]] bool Contains(const std::string& id);

  /// Writes the members of a task as `tasks/get` returns them, with its result or error if there is
  /// one. Throws as Cancel does.
  void Describe(ObjectWriter& object, const std::string& id);

 private:
  struct Task {
    std::string status = "working";
    std::chrono::system_clock::time_point created;
    std::chrono::system_clock::time_point updated;
    support::Clock::time_point expires;
    support::StopSource work;
    std::string result;  // JSON: the result of a completed task, the error of a failed one
    std::string message = "running; it is stopped when this session ends";  // or why it failed
  };

  void DropExpired();
  Task& Require(const std::string& id);

  const Heartbeat& heartbeat_;
  const ServerInfo server_;
  const std::size_t max_result_bytes_;
  std::mutex mutex_;
  std::map<std::string, Task> tasks_;
  std::size_t result_bytes_ = 0;
};

}  // namespace mcp
