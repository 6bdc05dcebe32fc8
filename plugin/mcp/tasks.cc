#include "mcp/tasks.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mcp/json_writer.h"
#include "mcp/reply.h"
#include "support/units.h"
#include "support/random.h"

namespace mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kIdDigits = 32;

std::string_view Name(TaskStatus status) {
  switch (status) {
    case TaskStatus::kWorking:
      return "working";
    case TaskStatus::kCompleted:
      return "completed";
    case TaskStatus::kFailed:
      return "failed";
    case TaskStatus::kCancelled:
      return "cancelled";
  }
  return {};
}

struct End {
  TaskStatus status;
  std::string result;
  std::string message;
};

End EndOf(Outcome outcome, const ServerInfo& server) {
  const Dialect dialect(Version::k2026_07_28);  // no older one knows tasks
  if (auto* result = std::get_if<ToolResult>(&outcome)) {
    return {TaskStatus::kCompleted, ToolResultText(std::move(*result), dialect, server).Text(), {}};
  }
  if (const auto* failure = std::get_if<ToolFailure>(&outcome)) {
    return {TaskStatus::kCompleted, ToolFailureText(*failure, dialect, server), {}};
  }
  if (const auto* error = std::get_if<ProtocolError>(&outcome)) {
    return {TaskStatus::kFailed, ErrorObject(*error), error->what()};
  }
  return {TaskStatus::kCancelled, {}, "cancelled by the client"};
}

}  // namespace

void TaskStore::DropExpired() {
  const support::Clock::time_point now = scheduler_.Now();
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (task->second.expires > now || task->second.status == TaskStatus::kWorking) {
      ++task;
      continue;
    }
    result_bytes_ -= task->second.result.size();
    task = tasks_.erase(task);
  }
}

TaskStore::Task& TaskStore::Require(const std::string& id) {
  DropExpired();
  const auto task = tasks_.find(id);
  if (task == tasks_.end()) throw ProtocolError(ErrorCode::kInvalidParams, "unknown task");
  return task->second;
}

std::string TaskStore::Create(support::StopSource work) {
  const std::scoped_lock lock(mutex_);
  DropExpired();
  if (tasks_.size() >= kMaxTasks || result_bytes_ >= kMaxResultBytes) return {};
  std::string id = support::RandomHex(kIdDigits);
  const auto now = scheduler_.WallNow();
  tasks_.emplace(id, Task{.created = now,
                          .updated = now,
                          .expires = scheduler_.Now() + kTimeToLive,
                          .work = std::move(work),
                          .result = {},
                          .message = {}});
  return id;
}

void TaskStore::Finish(const std::string& id, Outcome outcome) {
  End end = EndOf(std::move(outcome), server_);
  const std::scoped_lock lock(mutex_);
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  DropExpired();  // not this one: it still works
  if (result_bytes_ >= kMaxResultBytes) {
    End refusal =
        EndOf(ToolFailure{"the call has ended and its work is done, but its result was not kept: "
                          "those of other tasks take too much memory. Fetch those; call again "
                          "only what may be done twice"},
              server_);
    if (refusal.result.size() < end.result.size()) end = std::move(refusal);
  }
  Task& task = found->second;
  task.expires = std::max(task.expires, scheduler_.Now() + kTimeToFetch);
  task.status = end.status;
  task.result = std::move(end.result);
  task.message = std::move(end.message);
  task.updated = scheduler_.WallNow();
  result_bytes_ += task.result.size();
}

void TaskStore::Cancel(const std::string& id) {
  support::StopSource work;
  {
    const std::scoped_lock lock(mutex_);
    work = Require(id).work;
  }
  work.Stop(support::StopReason::kCancelled);
}

bool TaskStore::Contains(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  DropExpired();
  return tasks_.contains(id);
}

bool TaskStore::HasEnded(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto task = tasks_.find(id);
  return task != tasks_.end() && task->second.status != TaskStatus::kWorking;
}

void TaskStore::Describe(ObjectWriter& object, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const Task& task = Require(id);
  object.Member("taskId", std::string_view(id));
  object.Member("status", Name(task.status));
  if (!task.message.empty()) object.Member("statusMessage", std::string_view(task.message));
  object.Member("createdAt", std::string_view(support::FormatDate(task.created)));
  object.Member("lastUpdatedAt", std::string_view(support::FormatDate(task.updated)));
  object.Member("ttlMs", json(kTimeToLive.count()));
  object.Member("pollIntervalMs", json(kPollInterval.count()));
  if (task.status == TaskStatus::kCompleted) object.RawMember("result", task.result);
  if (task.status == TaskStatus::kFailed) object.RawMember("error", task.result);
}

}  // namespace mcp
