#include "mcp/subscriptions.h"

#include <algorithm>
#include <string_view>
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
  if (reply.request()->id().json().size() > kMaxIdBytes) {
    reply.Error(ProtocolError(ErrorCode::kInvalidRequest,
                              "the id of a subscription must not be longer than " +
                                  std::to_string(kMaxIdBytes) + " bytes"));
    return;
  }
  if (open_.size() >= kMaxOpen) {
    reply.Error(ProtocolError(ErrorCode::kInternalError, "too many open subscriptions"));
    return;
  }
  std::vector<std::string> accepted;  // each once, so no more than there are tasks
  if (task_ids != nullptr) {
    for (const std::string& task_id : *task_ids) {
      const bool is_new = std::find(accepted.begin(), accepted.end(), task_id) == accepted.end();
      if (is_new && tasks_.Contains(task_id)) accepted.push_back(task_id);
    }
  }
  const RequestId id = reply.request()->id();
  in_flight_.Notify(*reply.request(),
                    Acknowledgement(id, task_ids == nullptr ? nullptr : &accepted));
  open_.push_back(
      std::make_unique<Subscription>(Subscription{std::move(reply), std::move(accepted)}));
  for (const std::string& task_id : std::vector(open_.back()->task_ids)) {
    News news;
    if (tasks_.HasEnded(task_id)) SendNews(*open_.back(), task_id, news);
  }
}

/// The rest of `params`, after `_meta`, with the brace that ends it; null when there is no news.
Subscriptions::News Subscriptions::NewsOf(const std::string& task_id) const {
  std::string text;
  ObjectWriter object(text);
  try {
    tasks_.Describe(object, task_id);
  } catch (const ProtocolError&) {
    return nullptr;  // it has expired in the meantime
  }
  object.End();
  text.front() = ',';
  return std::make_shared<const std::string>(std::move(text));
}

void Subscriptions::SendNews(Subscription& subscription, const std::string& task_id, News& news) {
  if (std::erase(subscription.task_ids, task_id) == 0) return;
  if (!news) news = NewsOf(task_id);
  if (!news) return;
  std::string beginning;
  ObjectWriter notification(beginning);
  notification.Member("jsonrpc", std::string_view("2.0"));
  notification.Member("method", std::string_view("notifications/tasks"));
  notification.Key("params");
  ObjectWriter params(beginning);
  AddSubscriptionId(params, subscription.reply.request()->id());
  Line line(std::move(beginning));
  line.Append(news, Escaping::kNone);
  line.Append("}");
  in_flight_.Notify(*subscription.reply.request(), std::move(line));
}

void Subscriptions::TaskEnded(const std::string& task_id) {
  const std::scoped_lock lock(mutex_);
  DropWithdrawnLocked();
  News news;
  for (const auto& subscription : open_) SendNews(*subscription, task_id, news);
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
