#include "mcp/tool_calls.h"

#include <atomic>
#include <utility>
#include <vector>

#include "mcp/json_writer.h"
#include "support/units.h"

namespace mcp {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

struct ToolCalls::Call final : ProgressReporter {
  Call(Reply given_reply, Invocation given, std::uint64_t call_number, const Heartbeat& heartbeat)
      : invocation(std::move(given)),
        observed{call_number, heartbeat.WallNow(), invocation.name, invocation.arguments},
        began(heartbeat.Now()),
        reply(std::move(given_reply)) {}

  void SetStatus(std::string text) override {
    const std::scoped_lock lock(mutex);
    status = std::move(text);
  }

  const Invocation invocation;
  const ObservedCall observed;
  const support::Clock::time_point began;
  std::atomic<bool> started = false;
  std::atomic<bool> recorded = false;

  std::mutex mutex;  // guards what follows
  Reply reply;
  std::string status = "waiting for its turn behind other calls";
  milliseconds last_progress{0};  // since `began`
};

void ToolCalls::Start(Reply reply, Invocation invocation) {
  const auto call =
      std::make_shared<Call>(std::move(reply), std::move(invocation), ++last_number_, heartbeat_);
  const Invocation& given = call->invocation;
  {
    const std::scoped_lock lock(mutex_);
    active_.insert(call);
  }
  if (given.progress_token) heartbeat_.Start([this] { return Beat(); });
  if (!pool_.Run(given.tool->definition().lane, given.bytes, [this, call] { Run(call); })) {
    Finish(call, ToolFailure{"too many calls are waiting for their turn: wait until some of them "
                             "are answered, then call again"});
  }
}

void ToolCalls::Reject(Reply reply, Invocation call, Outcome outcome) {
  Finish(std::make_shared<Call>(std::move(reply), std::move(call), ++last_number_, heartbeat_),
         std::move(outcome));
}

void ToolCalls::Run(const std::shared_ptr<Call>& call) {
  const Invocation& given = call->invocation;
  const support::Context context = call->reply.stop().context();
  call->started = context.stop_reason() == support::StopReason::kNone;
  const bool read_only = given.tool->definition().annotations.value("readOnlyHint", false);
  if (call->started && options_.observer != nullptr && !read_only) {
    options_.observer->OnCallStarted(call->observed);
  }
  call->SetStatus("running");
  Finish(call, CallTool(*given.tool, {given.arguments, context, *call, given.format}));
}

void ToolCalls::Finish(const std::shared_ptr<Call>& call, Outcome outcome) {
  const Invocation& given = call->invocation;
  const std::string_view advice =
      given.tool == nullptr ? std::string_view() : given.tool->definition().when_too_large;
  EncodedOutcome encoded = Encode(std::move(outcome), given.era, options_.info, advice);
  Record(*call, encoded);
  // A client that does not read must not make memory grow.
  if (encoded.status == CallStatus::kSucceeded) output_.WaitForRoom();
  {
    const std::scoped_lock lock(mutex_);
    active_.erase(call);
  }
  const std::scoped_lock lock(call->mutex);
  call->reply.Send(std::move(encoded.response));
}

void ToolCalls::Record(Call& call, const EncodedOutcome& outcome) const {
  if (options_.observer == nullptr || call.recorded.exchange(true)) return;
  const bool refused = outcome.status == CallStatus::kFailed && !call.started;
  options_.observer->OnCallEnded(
      call.observed, {.status = refused ? CallStatus::kRefused : outcome.status,
                      .duration = duration_cast<milliseconds>(heartbeat_.Now() - call.began),
                      .exit_code = outcome.exit_code,
                      .error = outcome.error});
}

void ToolCalls::RecordUnfinished() {
  const std::scoped_lock lock(mutex_);
  for (const std::shared_ptr<Call>& call : active_) {
    Record(*call, {.status = CallStatus::kFailed,
                   .response = {},
                   .error = "the server exited before the call ended; it may still be running"});
  }
}

bool ToolCalls::Beat() {
  std::vector<std::shared_ptr<Call>> active;
  {
    const std::scoped_lock lock(mutex_);
    active.assign(active_.begin(), active_.end());
  }
  bool needed = false;
  for (const std::shared_ptr<Call>& call : active) needed = BeatFor(*call) || needed;
  return needed;
}

bool ToolCalls::BeatFor(Call& call) {
  const std::scoped_lock lock(call.mutex);
  if (!call.invocation.progress_token || !call.reply.IsOpen()) return false;
  const auto elapsed = duration_cast<milliseconds>(heartbeat_.Now() - call.began);
  if (elapsed < call.last_progress + Heartbeat::kInterval || !output_.HasRoom()) return true;
  call.last_progress = elapsed;
  const auto seconds = duration_cast<std::chrono::seconds>(elapsed);
  const std::string message = call.status + " (" + support::FormatDuration(seconds) + ")";
  const std::string params = ObjectText([&](ObjectWriter& object) {
    object.RawMember("progressToken", *call.invocation.progress_token);
    object.Member("progress", nlohmann::json(static_cast<double>(elapsed.count()) / 1000));
    object.Member("message", std::string_view(message));
  });
  call.reply.Notify(NotificationText("notifications/progress", params));
  return true;
}

void ToolCalls::StopAll(support::StopReason reason) {
  std::vector<support::StopSource> active;
  {
    const std::scoped_lock lock(mutex_);
    for (const std::shared_ptr<Call>& call : active_) active.push_back(call->reply.stop());
  }
  for (support::StopSource& source : active) source.Stop(reason);
}

}  // namespace mcp
