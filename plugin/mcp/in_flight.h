#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mcp/line.h"
#include "mcp/message.h"
#include "support/context.h"

/// The requests that have been received and not yet been answered.
namespace mcp {

class Transport;

/// Takes the answer of one request: the transport, or the batch that the request came in. It is let
/// go of once the request is answered or withdrawn. InFlight does both under its lock.
class ReplySink {
 public:
  virtual ~ReplySink() = default;

  /// `response` is a whole JSON-RPC response to the request with that id, null where none could be
  /// read. Not called for a request that the client has withdrawn, else once. Must be quick.
  virtual void Deliver(const RequestId* id, Line response) = 0;
};

/// One request in flight. What may be sent for it is decided by InFlight.
class PendingRequest {
 public:
  PendingRequest(RequestId id, std::shared_ptr<ReplySink> sink)
      : id_(std::move(id)), sink_(std::move(sink)) {}

  [[nodiscard]] const RequestId& id() const { return id_; }

  /// Stopped with kCancelled when the client withdraws the request. Copies stop the same work.
  [[nodiscard]] const support::StopSource& stop() const { return stop_; }

 private:
  friend class InFlight;
  RequestId id_;
  std::shared_ptr<ReplySink> sink_;
  support::StopSource stop_;
  bool open_ = true;  // guarded by InFlight's lock
};

/// All of them. One lock decides between the answer, the progress and the withdrawal of a request,
/// so that nothing is ever sent for one that was answered or withdrawn. Thread-safe.
class InFlight {
 public:
  /// `transport` must outlive this and the requests.
  explicit InFlight(Transport& transport) : transport_(transport) {}

  /// Null when a request with this id is in flight: ids must not be reused before the answer.
  std::shared_ptr<PendingRequest> Open(RequestId id, std::shared_ptr<ReplySink> sink);

  [[nodiscard]] bool Contains(const RequestId& id) const;

  /// Whether it may still be answered.
  [[nodiscard]] bool IsOpen(const PendingRequest& request) const;

  /// Answers the request and forgets it; false when it is not open any more.
  bool Answer(PendingRequest& request, Line response);

  /// Sends a notification about the request; false when it is not open any more.
  bool Notify(const PendingRequest& request, Line line);

  /// The client withdraws a request: nothing more is sent for it, its work is stopped. False when
  /// there is no such request.
  bool Cancel(const RequestId& id);

 private:
  void Forget(PendingRequest& request);

  Transport& transport_;
  mutable std::mutex mutex_;
  std::map<RequestId, std::shared_ptr<PendingRequest>> requests_;
};

}  // namespace mcp
