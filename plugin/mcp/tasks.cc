#include "mcp/tasks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "mcp/json_writer.h"
#include "mcp/reply.h"
#include "support/random.h"
#include "support/units.h"

namespace mcp {
namespace {

constexpr std::size_t kIdDigits = 32;

}  // namespace

void TaskStore::DropExpired() {
  const support::Clock::time_point now = heartbeat_.Now();
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (task->second.expires > now || task->second.status == "working") {
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
  if (task == tasks_.end()) throw InvalidParams("unknown task");
  return task->second;
}

std::string TaskStore::Create(support::StopSource work) {
  const std::scoped_lock lock(mutex_);
  DropExpired();
  if (tasks_.size() >= kMaxTasks || result_bytes_ > max_result_bytes_) return {};
  std::string id = support::RandomHex(kIdDigits);
  Task& task = tasks_[id];
  task.created = task.updated = heartbeat_.WallNow();
  task.expires = heartbeat_.Now() + kTimeToLive;
  task.work = std::move(work);
  return id;
}

void TaskStore::Finish(const std::string& id, Outcome outcome, const ResultLimit& limit) {
  std::string status = "completed";
  std::string text;
  std::string message;
  if (auto* result = std::get_if<ToolResult>(&outcome)) {
    text = ToolResultText(*result, Era::kModern, server_, limit);
  } else if (const auto* failure = std::get_if<ToolFailure>(&outcome)) {
    text = ToolFailureText(*failure, Era::kModern, server_);
  } else if (const auto* error = std::get_if<ProtocolError>(&outcome)) {
    status = "failed";
    text = ErrorObject(*error);
    message = error->what();
  } else {
    status = "cancelled";
    message = "cancelled by the client";
  }
  const std::scoped_lock lock(mutex_);
  Task& task = tasks_.at(id);  // one that still works does not expire
  task.status = std::move(status);
  task.result = std::move(text);
  task.message = std::move(message);
  task.expires = std::max(task.expires, heartbeat_.Now() + kTimeToFetch);
  task.updated = heartbeat_.WallNow();
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

void TaskStore::Describe(ObjectWriter& object, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const Task& task = Require(id);
  object.Member("taskId", std::string_view(id));
  object.Member("status", std::string_view(task.status));
  if (!task.message.empty()) object.Member("statusMessage", std::string_view(task.message));
  object.Member("createdAt", std::string_view(support::FormatDate(task.created)));
  object.Member("lastUpdatedAt", std::string_view(support::FormatDate(task.updated)));
  object.Member("ttlMs", nlohmann::json(kTimeToLive.count()));
  object.Member("pollIntervalMs", nlohmann::json(kPollInterval.count()));
  if (task.status == "completed") object.RawMember("result", task.result);
  if (task.status == "failed") object.RawMember("error", task.result);
}

}  // namespace mcp
