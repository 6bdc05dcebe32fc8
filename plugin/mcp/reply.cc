#include "mcp/reply.h"

#include <utility>

#include "mcp/json_writer.h"
#include "support/log.h"

namespace mcp {

std::string ErrorObject(const ProtocolError& error) {
  return ObjectText([&](ObjectWriter& object) {
    object.RawMember("code", std::to_string(static_cast<int>(error.code())));
    object.Member("message", error.what());
    if (!error.data().is_null()) object.JsonMember("data", error.data());
  });
}

std::string ErrorResponse(const ProtocolError& error) {
  return ObjectText([&](ObjectWriter& response) {
    response.Member("jsonrpc", "2.0");
    response.RawMember("error", ErrorObject(error));
  });
}

Reply::~Reply() {
  if (!request_ || !IsOpen()) return;
  support::LogError("request " + id() + " was not answered by its handler");
  Send(R"("error":)" + ErrorObject(ProtocolError(ErrorCode::kInternalError,
                                                 "internal error: the request was not answered")));
}

bool Reply::IsOpen() const {
  const std::scoped_lock lock(requests_->mutex_);
  return request_->open;
}

void Reply::Notify(std::string line) {
  const std::scoped_lock lock(requests_->mutex_);
  if (request_->open) requests_->output_.Write(std::move(line));
}

void Reply::Result(std::string_view result) {
  Send(R"("result":)" + std::string(result));
}

void Reply::Send(std::string member) {
  if (!request_) return;
  member.insert(0, R"({"jsonrpc":"2.0","id":)" + id() + ",");
  member += '}';
  const std::scoped_lock lock(requests_->mutex_);
  if (!std::exchange(request_->open, false)) return;
  requests_->open_.erase(request_->id);
  // Under the lock, so that a new request with this id cannot be answered before this one.
  requests_->output_.Write(std::move(member));
}

std::optional<Reply> Requests::Open(const RequestId& id) {
  const std::scoped_lock lock(mutex_);
  const auto [entry, is_new] = open_.try_emplace(id);
  if (!is_new) {
    support::LogWarning("dropped: a request with the id of one that is in flight");
    return std::nullopt;
  }
  entry->second = std::make_shared<PendingRequest>(PendingRequest{.id = id, .stop = {}});
  return Reply(*this, entry->second);
}

void Requests::Cancel(const RequestId& id) {
  std::shared_ptr<PendingRequest> request;
  {
    const std::scoped_lock lock(mutex_);
    const auto entry = open_.find(id);
    if (entry == open_.end()) return;
    request = entry->second;
    request->open = false;
    open_.erase(entry);
  }
  // Not under the lock: stopping runs callbacks of the tool.
  request->stop.Stop(support::StopReason::kCancelled);
}

}  // namespace mcp
