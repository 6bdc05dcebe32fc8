#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "mcp/dialect.h"
#include "mcp/outcome.h"
#include "mcp/scheduler.h"
#include "support/context.h"

/// Calls that outlive their request: the extension `io.modelcontextprotocol/tasks` (SEP-2663).
namespace mcp {

enum class TaskStatus { kWorking, kCompleted, kFailed, kCancelled };

/// The tasks of a server, kept for an hour from their creation, never less, and for kTimeToFetch
/// from their end. Thread-safe.
class TaskStore {
 public:
  static constexpr std::chrono::milliseconds kTimeToLive = std::chrono::hours(1);
  static constexpr std::chrono::milliseconds kPollInterval = std::chrono::seconds(1);

  /// What is left to the client of a task that ended when its hour was nearly or long over.
  static constexpr std::chrono::milliseconds kTimeToFetch = std::chrono::minutes(5);

  /// Since a task must not expire early, memory is bounded where tasks are made: beyond either of
  /// these no more are, and the call stays an ordinary one that is answered when it is done. Of
  /// those that were made before, the first result beyond kMaxResultBytes is still kept, and what
  /// is shorter than a text that says so; in the place of each other one there is that text.
  static constexpr std::size_t kMaxTasks = 256;
  static constexpr std::size_t kMaxResultBytes = std::size_t{64} * 1024 * 1024;

  TaskStore(const Scheduler& scheduler, ServerInfo server)
      : scheduler_(scheduler), server_(std::move(server)) {}

  /// Makes a task that is working and returns its id, 128 random bits in hexadecimal; empty when
  /// there is no room for more. `work` stops what the task does.
  [[nodiscard]] std::string Create(support::StopSource work);

  /// Ends a task. Withdrawn is "cancelled", a protocol error "failed", everything else "completed".
  void Finish(const std::string& id, Outcome outcome);

  /// Asks the work to stop; it may still complete. Does nothing when it has ended. Throws
  /// ProtocolError (kInvalidParams) when there is no such task.
  void Cancel(const std::string& id);

  [[nodiscard]] bool Contains(const std::string& id);
  [[nodiscard]] bool HasEnded(const std::string& id);

  /// The members of a task as JSON, without braces around them: what `tasks/get` and
  /// `notifications/tasks` say, the result or error included once there is one. Throws as Cancel.
  void Describe(ObjectWriter& object, const std::string& id);

 private:
  struct Task {
    TaskStatus status = TaskStatus::kWorking;
    std::chrono::system_clock::time_point created;
    std::chrono::system_clock::time_point updated;
    support::Clock::time_point expires;
    support::StopSource work;
    std::string result;  // JSON: of a completed task the result, of a failed one the error
    std::string message;
  };

  void DropExpired();
  Task& Require(const std::string& id);

  const Scheduler& scheduler_;
  const ServerInfo server_;
  std::mutex mutex_;
  std::map<std::string, Task> tasks_;
  std::size_t result_bytes_ = 0;
};

}  // namespace mcp
