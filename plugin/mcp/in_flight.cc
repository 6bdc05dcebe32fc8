#include "mcp/in_flight.h"

#include <utility>

#include "mcp/transport.h"

namespace mcp {

std::shared_ptr<PendingRequest> InFlight::Open(RequestId id, std::shared_ptr<ReplySink> sink) {
  const std::scoped_lock lock(mutex_);
  if (requests_.contains(id)) return nullptr;
  auto request = std::make_shared<PendingRequest>(id, std::move(sink));
  requests_.emplace(std::move(id), request);
  return request;
}

bool InFlight::Contains(const RequestId& id) const {
  const std::scoped_lock lock(mutex_);
  return requests_.contains(id);
}

bool InFlight::IsOpen(const PendingRequest& request) const {
  const std::scoped_lock lock(mutex_);
  return request.open_;
}

void InFlight::Forget(PendingRequest& request) {
  request.open_ = false;
  requests_.erase(request.id_);
}

bool InFlight::Answer(PendingRequest& request, Line response) {
  const std::scoped_lock lock(mutex_);
  if (!request.open_) return false;
  Forget(request);
  // Under the lock, so that a new request with this id cannot be answered before this one.
  std::exchange(request.sink_, nullptr)->Deliver(&request.id_, std::move(response));
  return true;
}

bool InFlight::Notify(const PendingRequest& request, Line line) {
  const std::scoped_lock lock(mutex_);
  if (!request.open_) return false;
  transport_.Send(std::move(line));
  return true;
}

bool InFlight::Cancel(const RequestId& id) {
  std::shared_ptr<PendingRequest> request;
  {
    const std::scoped_lock lock(mutex_);
    const auto entry = requests_.find(id);
    if (entry == requests_.end()) return false;
    request = entry->second;
    Forget(*request);
    request->sink_.reset();  // a batch that waits for this one alone is sent now
  }
  // Outside of the lock: whoever waits for this may want to report progress first.
  request->stop_.Stop(support::StopReason::kCancelled);
  return true;
}

}  // namespace mcp
