// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/json_writer.h"
#include "mcp/lines.h"
#include "mcp/message.h"
#include "support/context.h"

namespace mcp {

class OpenRequests;

struct PendingRequest {
  RequestId id;
  support::StopSource stop;
  bool open = true;  // guarded by the lock of OpenRequests
};

/// The one response to one request. Destroyed without an answer, it sends an internal error. Sends
/// nothing once the client has cancelled the request. One thread at a time.
class Responder {
 public:
  Responder(OpenRequests& requests, std::shared_ptr<PendingRequest> request)
      : requests_(&requests), request_(std::move(request)) {}
  Responder(Responder&& other) noexcept = default;
  ~Responder();

  [[nodiscard]] const RequestId& id() const { return request_->id; }

  /// Stopped with kCancelled when the client cancels the request.
  [[nodiscard]] support::StopSource stop() const { return request_->stop; }

  /// Sends a notification about the request while it is open.
  void Notify(std::string_view method, const Json& params);

  /// Sends the response; `member` is its `"result":…` or `"error":…`. Returns false when the
  /// request was answered or cancelled before. Does nothing after this reply was moved from, so
  /// that the exception of a handler can always be answered with it.
  bool Send(std::string member);

  void Result(const Json& result) { Send(R"("result":)" + ToJson(result)); }

 private:
  OpenRequests* requests_;
  std::shared_ptr<PendingRequest> request_;  // null once moved from
};

/// The requests that are not yet answered. Under its one lock nothing follows a response or a
/// cancellation. Thread-safe.
class OpenRequests {
 public:
  /// `output` must outlive this; this must outlive its replies.
  explicit OpenRequests(LineWriter& output) : output_(output) {}

  /// Nothing, and a line in the log, when a request with this id is open: ids must not be reused
  /// before the response.
  std::optional<Responder> Open(const RequestId& id);

  /// The client cancels a request: stops its work and sends nothing more for it. Ignores unknown
  /// ids.
  void Cancel(const RequestId& id);

 private:
  friend class Responder;

  LineWriter& output_;
  std::mutex mutex_;
  std::map<RequestId, std::shared_ptr<PendingRequest>> open_;
};

}  // namespace mcp
