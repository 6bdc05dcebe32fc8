#include "mcp/tool_calls.h"

#include <atomic>
#include <utility>
#include <vector>

#include "mcp/json_writer.h"
#include "support/units.h"

namespace mcp {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// Of a message, for what stands around the result.
constexpr std::size_t kEnvelopeBytes = 1024;

struct ToolCalls::Call final : ProgressReporter {
  Call(Reply first_reply, Invocation given, const Heartbeat& heartbeat)
      : invocation(std::move(given)),
        stop(first_reply.stop()),
        received(heartbeat.WallNow()),
        began(heartbeat.Now()),
        reply(std::move(first_reply)) {}

  void SetStatus(std::string text) override {
    const std::scoped_lock lock(mutex);
    status = std::move(text);
  }

  const Invocation invocation;
  support::StopSource stop;
  const std::chrono::system_clock::time_point received;
  const support::Clock::time_point began;
  std::atomic<bool> started = false;
  std::atomic<bool> recorded = false;

  std::mutex mutex;  // guards what follows
  Reply reply;
  std::string status = "waiting for its turn behind other calls";
  milliseconds last_progress{0};  // since `began`
};

void ToolCalls::Start(Reply reply, Invocation invocation) {
  const auto call = std::make_shared<Call>(std::move(reply), std::move(invocation), heartbeat_);
  const Invocation& given = call->invocation;
  {
    const std::scoped_lock lock(mutex_);
    active_.insert(call);
  }
  if (given.progress_token) heartbeat_.Start([this] { return Beat(); });
  const ToolDefinition& definition = given.tool.definition();
  CallPool& pool = definition.lane == Lane::kWaiting ? waiting_pool_ : pool_;
  if (!pool.Run(definition.lane == Lane::kCommand, given.bytes, [this, call] { Run(call); })) {
    Finish(call, ToolFailure{"too many calls are waiting for their turn: wait until some of them "
                             "are answered, then call again"});
  }
}

void ToolCalls::Run(const std::shared_ptr<Call>& call) {
  const support::Context context = call->stop.context();
  call->started = context.stop_reason() == support::StopReason::kNone;
  call->SetStatus("running");
  const Invocation& given = call->invocation;
  Finish(call, CallTool(given.tool, {given.arguments, context, *call, given.format}));
}

void ToolCalls::Finish(const std::shared_ptr<Call>& call, Outcome outcome) {
  Record(*call, outcome);
  // A client that does not read must not make memory grow.
  if (std::holds_alternative<ToolResult>(outcome)) output_.WaitForRoom();
  {
    const std::scoped_lock lock(mutex_);
    active_.erase(call);
  }
  const std::scoped_lock lock(call->mutex);
  Answer(*call, call->reply, std::move(outcome));
}

void ToolCalls::Record(Call& call, const Outcome& outcome) const {
  if (options_.observer == nullptr || call.recorded.exchange(true)) return;
  options_.observer->OnCallEnded(
      {.received = call.received,
       .duration = duration_cast<milliseconds>(heartbeat_.Now() - call.began),
       .tool = call.invocation.tool.definition().name,
       .arguments = call.invocation.arguments,
       .started = call.started,
       .outcome = outcome});
}

void ToolCalls::RecordRejected(std::string_view tool, const nlohmann::json& arguments,
                               const Outcome& outcome) const {
  if (options_.observer == nullptr) return;
  options_.observer->OnCallEnded({.received = heartbeat_.WallNow(),
                                  .duration = milliseconds(0),
                                  .tool = tool,
                                  .arguments = arguments,
                                  .started = false,
                                  .outcome = outcome});
}

void ToolCalls::RecordUnfinished() {
  const std::scoped_lock lock(mutex_);
  for (const std::shared_ptr<Call>& call : active_) {
    Record(*call, ToolFailure{"the server exited before the call ended; it may still be running"});
  }
}

ResultLimit ToolCalls::LimitFor(const Call& call) const {
  return {.bytes = options_.max_result_bytes - kEnvelopeBytes,
          .advice = call.invocation.tool.definition().when_too_large};
}

void ToolCalls::Answer(const Call& call, Reply& reply, Outcome outcome) const {
  const Era era = call.invocation.era;
  if (const auto* error = std::get_if<ProtocolError>(&outcome)) {
    reply.Error(*error);
  } else if (auto* result = std::get_if<ToolResult>(&outcome)) {
    reply.Result(ToolResultText(std::move(*result), era, options_.info, LimitFor(call)));
  } else if (const auto* failure = std::get_if<ToolFailure>(&outcome)) {
    reply.Result(ToolFailureText(*failure, era, options_.info));
  }
  // Cancelled needs no answer. If the client did not cancel the call, ~Reply sends an error.
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
    for (const std::shared_ptr<Call>& call : active_) active.push_back(call->stop);
  }
  for (support::StopSource& source : active) source.Stop(reason);
}

}  // namespace mcp
