#include "mcp/reply.h"

#include <cassert>
#include <utility>

#include "mcp/json_writer.h"
#include "support/log.h"

namespace mcp {

std::string ErrorObject(const ProtocolError& error) {
  std::string text;
  ObjectWriter object(text);
  object.Member("code", nlohmann::json(static_cast<int>(error.code())));
  object.Member("message", std::string_view(error.what()));
  if (!error.data().is_null()) object.Member("data", error.data());
  object.End();
  return text;
}

std::string ErrorResponse(const RequestId* id, const ProtocolError& error) {
  std::string text;
  ObjectWriter response(text);
  response.Member("jsonrpc", std::string_view("2.0"));
  if (id != nullptr) response.RawMember("id", id->json());
  response.RawMember("error", ErrorObject(error));
  response.End();
  return text;
}

Reply::Reply(InFlight& in_flight, std::shared_ptr<PendingRequest> request)
    : in_flight_(&in_flight), request_(std::move(request)) {}

Reply::Reply(Reply&& other) noexcept
    : in_flight_(std::exchange(other.in_flight_, nullptr)),
      request_(std::move(other.request_)),
      answered_(other.answered_) {}

Reply::~Reply() {
  if (in_flight_ == nullptr || answered_ || !in_flight_->IsOpen(*request_)) return;
  support::LogError("request " + request_->id().json() + " was forgotten by its handler");
  Error(ProtocolError(ErrorCode::kInternalError, "internal error: the request was not answered"));
}

void Reply::Result(Line result) {
  std::string beginning;
  ObjectWriter object(beginning);
  object.Member("jsonrpc", std::string_view("2.0"));
  object.RawMember("id", request_->id().json());
  object.Key("result");
  Line response(std::move(beginning));
  response.Append(std::move(result));
  response.Append("}");
  Send(std::move(response));
}

void Reply::Error(const ProtocolError& error) {
  if (in_flight_ == nullptr) return;  // whoever has it now answers
  Send(ErrorResponse(&request_->id(), error));
}

void Reply::Send(Line response) {
  assert(!answered_ && "a request is answered once");
  if (answered_) {
    support::LogError("second answer to request " + request_->id().json() + " dropped");
    return;
  }
  answered_ = true;
  in_flight_->Answer(*request_, std::move(response));
}

}  // namespace mcp
