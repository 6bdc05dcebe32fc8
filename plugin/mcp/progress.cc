#include "mcp/progress.h"

#include <utility>

#include "mcp/json_writer.h"

namespace mcp {

ProgressSender::ProgressSender(const Transport& transport, InFlight& in_flight,
                               std::shared_ptr<PendingRequest> request,
                               std::optional<std::string> token, bool with_message,
                               const Scheduler& scheduler)
    : transport_(transport),
      in_flight_(in_flight),
      request_(std::move(request)),
      token_(std::move(token)),
      with_message_(with_message),
      scheduler_(scheduler),
      begin_(scheduler.Now()) {}

bool ProgressSender::requested() const {
  return token_ && in_flight_.IsOpen(*request_);
}

void ProgressSender::Report(const std::string& message) {
  if (!requested() || !transport_.HasRoom()) return;
  const std::scoped_lock lock(mutex_);  // held while sending, so that values leave in order
  const support::Clock::time_point now = scheduler_.Now();
  if (last_ && now - *last_ < kInterval) return;
  last_ = now;

  // Whole milliseconds: short to write, and a second apart they always increase.
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - begin_);
  std::string params;
  ObjectWriter object(params);
  object.RawMember("progressToken", *token_);
  object.Member("progress", nlohmann::json(static_cast<double>(elapsed.count()) / 1000));
  if (with_message_) object.Member("message", std::string_view(message));
  object.End();
  in_flight_.Notify(*request_, NotificationText("notifications/progress", params));
}

}  // namespace mcp
