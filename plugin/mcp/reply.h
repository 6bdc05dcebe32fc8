#pragma once

#include <memory>
#include <string>

#include "mcp/in_flight.h"
#include "mcp/line.h"
#include "mcp/protocol_error.h"

namespace mcp {

/// The one answer to one request. Move-only: whoever holds it must answer. A second answer is a
/// programming error (asserted, logged, not sent); one that is destroyed without an answer answers
/// by itself with an internal error. Nothing is sent once the client has withdrawn the request.
/// Not thread-safe by itself, but may be handed to another thread.
class Reply {
 public:
  /// `in_flight` must outlive this.
  Reply(InFlight& in_flight, std::shared_ptr<PendingRequest> request);
  Reply(Reply&& other) noexcept;
  Reply& operator=(Reply&&) = delete;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply();

  [[nodiscard]] const std::shared_ptr<PendingRequest>& request() const { return request_; }

  /// `result` is a JSON object.
  void Result(Line result);

  /// Does nothing once this reply was handed on, so that a handler's exception can always be
  /// answered with it.
  void Error(const ProtocolError& error);

 private:
  void Send(Line response);

  InFlight* in_flight_;  // null once moved from
  std::shared_ptr<PendingRequest> request_;
  bool answered_ = false;
};

/// The JSON object `{"code":…,"message":…,"data":…}`.
[[nodiscard]] std::string ErrorObject(const ProtocolError& error);

/// A whole response with an error; without an id when it could not be read.
[[nodiscard]] std::string ErrorResponse(const RequestId* id, const ProtocolError& error);

}  // namespace mcp
