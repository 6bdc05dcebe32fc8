#include "mcp/subscriptions.h"

#include <algorithm>
#include <utility>

#include "mcp/json_writer.h"

namespace mcp {
namespace {

using nlohmann::json;

/// `"_meta":{".../subscriptionId":<id of the listen request>}`
void AddSubscriptionId(ObjectWriter& params, const RequestId& id) {
  std::string meta;
  ObjectWriter object(meta);
  object.RawMember(meta_key::kSubscriptionId, id.json());
  object.End();
  params.RawMember("_meta", meta);
}

std::string Acknowledgement(const RequestId& id, const std::vector<std::string>* task_ids) {
  std::string params;
  ObjectWriter object(params);
  AddSubscriptionId(object, id);
  json accepted = json::object();
  if (task_ids != nullptr) accepted["taskIds"] = *task_ids;
  object.Member("notifications", accepted);
  object.End();
  return NotificationText("notifications/subscriptions/acknowledged", params);
}

/// The answer that says that the server ends the subscription.
std::string ClosedResult(const RequestId& id, const ServerInfo& server) {
  std::string meta;
  ObjectWriter meta_object(meta);
  meta_object.Member(meta_key::kServerInfo, Describe(server));
  meta_object.RawMember(meta_key::kSubscriptionId, id.json());
  meta_object.End();
  std::string result;
  ObjectWriter object(result);
  object.Member("resultType", std::string_view("complete"));
  object.RawMember("_meta", meta);
  object.End();
  return result;
}

}  // namespace

void Subscriptions::Open(Reply reply, const std::vector<std::string>* task_ids) {
  const std::scoped_lock lock(mutex_);
  DropWithdrawnLocked();
  if (open_.size() >= kMaxOpen) {
    reply.Error(ProtocolError(ErrorCode::kInternalError, "too many open subscriptions"));
    return;
  }
  std::vector<std::string> accepted;
  if (task_ids != nullptr) {
    std::copy_if(task_ids->begin(), task_ids->end(), std::back_inserter(accepted),
                 [this](const std::string& id) { return tasks_.Contains(id); });
  }
  const RequestId id = reply.request()->id();
  in_flight_.Notify(*reply.request(),
                    Acknowledgement(id, task_ids == nullptr ? nullptr : &accepted));
  open_.push_back(
      std::make_unique<Subscription>(Subscription{std::move(reply), std::move(accepted)}));
  for (const std::string& task_id : std::vector(open_.back()->task_ids)) {
    if (tasks_.HasEnded(task_id)) SendNews(*open_.back(), task_id);
  }
}

void Subscriptions::SendNews(Subscription& subscription, const std::string& task_id) {
  if (std::erase(subscription.task_ids, task_id) == 0) return;
  std::string params;
  ObjectWriter object(params);
  AddSubscriptionId(object, subscription.reply.request()->id());
  try {
    tasks_.Describe(object, task_id);
  } catch (const ProtocolError&) {
    return;  // it has expired in the meantime, which is no news
  }
  object.End();
  in_flight_.Notify(*subscription.reply.request(), NotificationText("notifications/tasks", params));
}

void Subscriptions::TaskEnded(const std::string& task_id) {
  const std::scoped_lock lock(mutex_);
  DropWithdrawnLocked();
  for (const auto& subscription : open_) SendNews(*subscription, task_id);
}

void Subscriptions::DropWithdrawn() {
  const std::scoped_lock lock(mutex_);
  DropWithdrawnLocked();
}

void Subscriptions::DropWithdrawnLocked() {
  open_.erase(std::remove_if(open_.begin(), open_.end(),
                             [this](const auto& subscription) {
                               return !in_flight_.IsOpen(*subscription->reply.request());
                             }),
              open_.end());
}

void Subscriptions::CloseAll() {
  const std::scoped_lock lock(mutex_);
  for (const auto& subscription : open_) {
    Reply& reply = subscription->reply;
    reply.Result(ClosedResult(reply.request()->id(), server_));
  }
  open_.clear();
}

}  // namespace mcp
