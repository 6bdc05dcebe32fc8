// SPDX-License-Identifier: Apache-2.0
#include "mcp/responder.h"

#include <utility>

#include "support/format.h"
#include "support/log.h"

namespace mcp {

Responder::~Responder() {
  constexpr const char* kError =
      R"("error":{"code":-32603,"message":"internal error: the request was not answered"})";
  if (Send(kError))
    support::LogError(support::Format("request {} was not answered by its handler", id()));
}

void Responder::Notify(std::string_view method, const Json& params) {
  std::string line = ToJson({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  const std::scoped_lock lock(requests_->mutex_);
  if (request_->open) requests_->output_.Write(std::move(line));
}

bool Responder::Send(std::string member) {
  if (!request_) return false;
  member.insert(0, R"({"jsonrpc":"2.0","id":)" + id() + ",");
  member += '}';
  const std::scoped_lock lock(requests_->mutex_);
  if (!std::exchange(request_->open, false)) return false;
  requests_->open_.erase(request_->id);
  // Under the lock, so that a new request with this id cannot be answered before this one.
  requests_->output_.Write(std::move(member));
  return true;
}

std::optional<Responder> OpenRequests::Open(const RequestId& id) {
  const std::scoped_lock lock(mutex_);
  const auto [entry, is_new] = open_.try_emplace(id);
  if (!is_new) {
    support::LogWarning("dropped: a request with the id of one that is in flight");
    return std::nullopt;
  }
  entry->second = std::make_shared<PendingRequest>(PendingRequest{.id = id, .stop = {}});
  return Responder(*this, entry->second);
}

void OpenRequests::Cancel(const RequestId& id) {
  const std::scoped_lock lock(mutex_);
  const auto entry = open_.find(id);
  if (entry == open_.end()) return;
  entry->second->open = false;
  entry->second->stop.Stop(support::StopReason::kCancelled);
  open_.erase(entry);
}

}  // namespace mcp
