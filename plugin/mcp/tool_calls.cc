#include "mcp/tool_calls.h"

#include <atomic>
#include <utility>
#include <vector>

#include "mcp/json_writer.h"
#include "mcp/outcome.h"
#include "mcp/progress.h"
#include "support/errors.h"

namespace mcp {
namespace {

CallPool::Kind KindOf(const ToolList::Entry& entry) {
  return entry.tool->definition().open_ended ? CallPool::Kind::kOpenEnded : CallPool::Kind::kShort;
}

}  // namespace

struct ToolCalls::Call {
  Call(Reply first_reply, Order given, const Surroundings& surroundings)
      : order(std::move(given)),
        stop(first_reply.request()->stop()),
        progress(surroundings.transport, surroundings.in_flight, first_reply.request(),
                 order.progress_token, order.dialect.progress_message(), surroundings.scheduler),
        received(surroundings.scheduler.WallNow()),
        began(surroundings.scheduler.Now()),
        reply(std::move(first_reply)) {}

  Order order;
  support::StopSource stop;
  ProgressSender progress;
  std::atomic<bool> has_thread = false;
  const std::chrono::system_clock::time_point received;
  const support::Clock::time_point began;
  std::atomic<bool> started = false;
  std::atomic<bool> noted = false;
  std::list<Call*>::iterator in_active;

  std::mutex mutex;            // guards what follows
  std::optional<Reply> reply;  // until somebody has answered
  std::string task_id;         // of the handle that was the answer
};

void ToolCalls::Start(Reply reply, Order order) {
  const std::size_t bytes = order.bytes;
  const bool may_become_task = order.may_become_task;
  auto call = std::make_shared<Call>(std::move(reply), std::move(order), surroundings_);
  {
    const std::scoped_lock lock(mutex_);
    call->in_active = active_.insert(active_.end(), call.get());
  }
  try {
    if (!pool_.Run(KindOf(call->order.entry), bytes, [this, call] { Run(call); })) {
      throw support::CallError(
          "too many calls are waiting for their turn: wait until some of them are answered, then "
          "call again");
    }
  } catch (const support::CallError& refusal) {
    Finish(*call, ToolFailure{refusal.what()});
    return;
  }
  if (call->progress.requested()) ReportWaiting(call);
  if (!may_become_task) return;
  surroundings_.scheduler.RunAt(surroundings_.scheduler.Now() + surroundings_.task_threshold,
                                [this, weak = std::weak_ptr<Call>(call)] {
                                  if (const std::shared_ptr<Call> late = weak.lock())
                                    TurnIntoTask(*late);
                                });
}

void ToolCalls::ReportWaiting(const std::weak_ptr<Call>& call) {
  surroundings_.scheduler.RunAt(
      surroundings_.scheduler.Now() + ProgressSender::kInterval, [this, call] {
        const std::shared_ptr<Call> waiting = call.lock();
        if (!waiting || waiting->has_thread) return;
        if (pool_.Saturated(KindOf(waiting->order.entry))) {
          waiting->progress.Report("waiting for its turn behind other calls");
        }
        ReportWaiting(call);
      });
}

void ToolCalls::Run(const std::shared_ptr<Call>& call) {
  call->has_thread = true;
  const support::Context context = call->stop.context();
  if (context.stop_reason() != support::StopReason::kNone) {
    Finish(*call, OutcomeOf(std::make_exception_ptr(support::Stopped(context.stop_reason()))));
    return;
  }
  call->started = true;
  Finish(*call,
         CallTool(*call->order.entry.tool, {call->order.arguments, context, call->progress}));
}

void ToolCalls::Finish(Call& call, Outcome outcome) {
  Note(call, outcome);
  // Nothing large is written while the client leaves much unread. Meanwhile the call may become a
  // task.
  if (std::holds_alternative<ToolResult>(outcome)) surroundings_.transport.WaitForRoom();
  {
    const std::scoped_lock lock(mutex_);
    active_.erase(call.in_active);
  }
  const std::scoped_lock lock(call.mutex);
  if (call.reply) {
    Answer(call, *std::move(call.reply), std::move(outcome));
    call.reply.reset();
  } else {
    surroundings_.tasks.Finish(call.task_id, std::move(outcome));
    surroundings_.subscriptions.TaskEnded(call.task_id);
  }
}

void ToolCalls::Note(Call& call, const Outcome& outcome) const {
  if (surroundings_.observer == nullptr || call.noted.exchange(true)) return;
  surroundings_.observer->OnCallEnded(
      {.received = call.received,
       .duration = std::chrono::duration_cast<std::chrono::milliseconds>(
           surroundings_.scheduler.Now() - call.began),
       .tool = call.order.entry.tool->definition().name,
       .arguments = call.order.arguments,
       .started = call.started,
       .outcome = outcome});
}

void ToolCalls::NoteRefused(std::string_view tool, const nlohmann::json& arguments,
                            const Outcome& outcome) const {
  if (surroundings_.observer == nullptr) return;
  surroundings_.observer->OnCallEnded({.received = surroundings_.scheduler.WallNow(),
                                       .duration = std::chrono::milliseconds(0),
                                       .tool = tool,
                                       .arguments = arguments,
                                       .started = false,
                                       .outcome = outcome});
}

void ToolCalls::NoteUnfinished() {
  const std::scoped_lock lock(mutex_);
  for (Call* call : active_) {
    Note(*call, ToolFailure{"it had not ended when the server left; its work may still go on"});
  }
}

void ToolCalls::Answer(const Call& call, Reply reply, Outcome outcome) const {
  const Dialect& dialect = call.order.dialect;
  if (const auto* error = std::get_if<ProtocolError>(&outcome)) {
    reply.Error(*error);
    return;
  }
  // A tool that says "cancelled" although nobody cancelled it is caught by ~Reply.
  if (std::holds_alternative<Withdrawn>(outcome)) return;
  if (auto* result = std::get_if<ToolResult>(&outcome)) {
    reply.Result(ToolResultText(std::move(*result), dialect, surroundings_.server));
  } else {
    reply.Result(ToolFailureText(std::get<ToolFailure>(outcome), dialect, surroundings_.server));
  }
}

void ToolCalls::TurnIntoTask(Call& call) {
  const std::scoped_lock lock(call.mutex);
  if (!call.reply || !surroundings_.in_flight.IsOpen(*call.reply->request())) return;
  std::string id = surroundings_.tasks.Create(call.stop);
  if (id.empty()) return;
  call.task_id = id;
  std::string result;
  ObjectWriter object(result);
  call.order.dialect.BeginResult(object, surroundings_.server, "task");
  surroundings_.tasks.Describe(object, id);
  object.End();
  call.reply->Result(std::move(result));
  call.reply.reset();
}

void ToolCalls::StopAll(support::StopReason reason) {
  std::vector<support::StopSource> active;
  {
    const std::scoped_lock lock(mutex_);
    for (const Call* call : active_) active.push_back(call->stop);
  }
  for (support::StopSource& source : active) source.Stop(reason);
}

}  // namespace mcp
