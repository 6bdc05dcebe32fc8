#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "mcp/in_flight.h"
#include "mcp/scheduler.h"
#include "mcp/tool.h"
#include "mcp/transport.h"

namespace mcp {

/// Sends `notifications/progress` for one request (specification: basic/utilities/progress): the
/// seconds since the call was received, strictly increasing, at most once a second, never after
/// the answer, and none to a client that does not read: calls that last would fill the memory.
class ProgressSender : public ProgressReporter {
 public:
  static constexpr std::chrono::seconds kInterval{1};

  /// `token` is the client's progress token as JSON; without one nothing is sent. `with_message`:
  /// whether the client's version knows messages. References must outlive this.
  ProgressSender(const Transport& transport, InFlight& in_flight,
                 std::shared_ptr<PendingRequest> request, std::optional<std::string> token,
                 bool with_message, const Scheduler& scheduler);

  [[nodiscard]] bool requested() const override;
  void Report(const std::string& message) override;

 private:
  const Transport& transport_;
  InFlight& in_flight_;
  const std::shared_ptr<PendingRequest> request_;
  const std::optional<std::string> token_;
  const bool with_message_;
  const Scheduler& scheduler_;
  const support::Clock::time_point begin_;
  std::mutex mutex_;
  std::optional<support::Clock::time_point> last_;
};

}  // namespace mcp
