#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mcp/dialect.h"
#include "mcp/in_flight.h"
#include "mcp/reply.h"
#include "mcp/tasks.h"

namespace mcp {

/// The open `subscriptions/listen` requests (MCP 2026-07-28, basic/patterns/subscriptions). The
/// only news there is here is that a task has ended. Thread-safe.
class Subscriptions {
 public:
  /// More are refused.
  static constexpr std::size_t kMaxOpen = 1024;

  /// Of the request's id as JSON, which is kept and comes back with all news. A longer one is
  /// refused.
  static constexpr std::size_t kMaxIdBytes = 1024;

  /// References must outlive this.
  Subscriptions(InFlight& in_flight, TaskStore& tasks, ServerInfo server)
      : in_flight_(in_flight), tasks_(tasks), server_(std::move(server)) {}

  /// Acknowledges the request and holds it open. Of `task_ids` those are accepted that exist, each
  /// once; of those that have ended already the news is sent at once. Null: the client asks for no
  /// news of tasks. Answers with an error when kMaxOpen are open or the id is beyond kMaxIdBytes.
  void Open(Reply reply, const std::vector<std::string>* task_ids);

  /// Tells those who listen for it that the task has ended.
  void TaskEnded(const std::string& task_id);

  /// Forgets those that their client has withdrawn.
  void DropWithdrawn();

  /// Answers all that are open: the server ends.
  void CloseAll();

 private:
  struct Subscription {
    Reply reply;
    std::vector<std::string> task_ids;  // of which there is still news to send
  };

  /// What is said of a task, the same text for all that listen for it: its result may be large.
  using News = std::shared_ptr<const std::string>;

  /// Once for each task: a task that ends while a subscription is opened is found both ways. Makes
  /// `news` where that is still null.
  void SendNews(Subscription& subscription, const std::string& task_id, News& news);
  [[nodiscard]] News NewsOf(const std::string& task_id) const;
  void DropWithdrawnLocked();

  InFlight& in_flight_;
  TaskStore& tasks_;
  const ServerInfo server_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Subscription>> open_;
};

}  // namespace mcp
