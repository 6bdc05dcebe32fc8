// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "mcp/schema.h"
#include "mcp/server.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/units.h"

namespace mcp {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// How often a call's progress is sent.
constexpr std::chrono::seconds kProgressInterval{1};

}  // namespace

struct Server::Call final : ProgressReporter {
  Call(const Tool* found_tool, CallToolParams given, const RequestContext& given_context,
       std::uint64_t call_number, support::Clock::time_point now, Responder given_reply)
      : tool(found_tool),
        params(std::move(given)),
        context(given_context),
        observed{call_number, std::chrono::system_clock::now(), params.name, params.arguments},
        began(now),
        reply(std::move(given_reply)) {}

  void SetStatus(std::string text) override {
    const std::scoped_lock lock(mutex);
    status = std::move(text);
  }

  [[nodiscard]] const nlohmann::json& arguments() const {
    return understood ? *understood : params.arguments;
  }

  const Tool* const tool;  // null if there is none of that name
  CallToolParams params;
  const RequestContext context;
  const ObservedCall observed;
  const support::Clock::time_point began;
  std::optional<nlohmann::json> understood = {};  ///< the arguments, if not as they came
  std::atomic<bool> started = false;
  std::atomic<bool> recorded = false;

  std::mutex mutex;  // guards what follows
  Responder reply;
  std::string status = "waiting for its turn behind other calls";
  milliseconds last_progress{0};  // since `began`
};

void Server::StartCall(Message& request, const RequestContext& context, Responder& reply) {
  CallToolParams params = ParseCallTool(std::move(request.params));
  const auto tool = std::find_if(tools_.begin(), tools_.end(), [&params](const Tool& candidate) {
    return candidate.definition.name == params.name;
  });
  const auto call =
      std::make_shared<Call>(tool == tools_.end() ? nullptr : &*tool, std::move(params), context,
                             ++last_number_, options_.now(), std::move(reply));
  try {
    if (tool == tools_.end())
      throw InvalidParams(support::Format("unknown tool {}", QuoteName(call->params.name)));
    const nlohmann::json& schema = tool->definition.input_schema;
    call->understood = Understand(schema, call->params.arguments);
    if (const auto error = FindSchemaError(schema, call->arguments()))
      throw support::Error("validating \"arguments\": {}", *error);
    {
      const std::scoped_lock lock(active_mutex_);
      active_.insert(call);
    }
    pool_.Run(tool->definition.lane, [this, call] { RunCall(call); });
  } catch (...) {
    FinishCall(call, OutcomeOf(std::current_exception(), context.era, options_.info));
  }
}

void Server::RunCall(const std::shared_ptr<Call>& call) {
  const auto run = [&]() -> Outcome {
    const ToolDefinition& tool = call->tool->definition;
    const auto& [era, format] = call->context;
    try {
      const support::Context context = call->reply.stop().context();
      context.ThrowIfStopped();
      call->started = true;
      const bool read_only = tool.annotations.value("readOnlyHint", false);
      if (options_.observer && !read_only) options_.observer(call->observed, nullptr);
      call->SetStatus("running");
      return OutcomeOf(call->tool->call({call->arguments(), context, *call, format}), era,
                       options_.info, tool.when_too_large);
    } catch (...) {
      return OutcomeOf(std::current_exception(), era, options_.info);
    }
  };
  FinishCall(call, run());
}

void Server::FinishCall(const std::shared_ptr<Call>& call, Outcome outcome) {
  Record(*call, outcome);
  // A client that does not read must not make memory grow.
  if (outcome.status == CallStatus::kSucceeded) {
    writer_.WaitForRoom(call->reply.stop().context());
  }
  {
    const std::scoped_lock lock(active_mutex_);
    active_.erase(call);
  }
  const std::scoped_lock lock(call->mutex);
  call->reply.Send(std::move(outcome.response));
}

void Server::Record(Call& call, Outcome& outcome) const {
  if (!options_.observer || call.recorded.exchange(true)) return;
  if (outcome.status == CallStatus::kFailed && !call.started) outcome.status = CallStatus::kRefused;
  outcome.duration = duration_cast<milliseconds>(options_.now() - call.began);
  options_.observer(call.observed, &outcome);
}

std::vector<std::shared_ptr<Server::Call>> Server::ActiveCalls() {
  const std::scoped_lock lock(active_mutex_);
  return {active_.begin(), active_.end()};
}

bool Server::StopCalls(support::StopReason reason) {
  for (const std::shared_ptr<Call>& call : ActiveCalls()) call->reply.stop().Stop(reason);
  if (pool_.WaitUntilIdle(support::Clock::now() + options_.stop_grace)) return true;
  for (const std::shared_ptr<Call>& call : ActiveCalls()) {
    Outcome unknown = {.status = CallStatus::kFailed,
                       .response = {},
                       .error = "the server exited before the call ended; it may still be running"};
    Record(*call, unknown);
  }
  return false;
}

int Server::ProgressIfDue() {
  const auto now = support::Clock::now();
  if (now >= next_progress_) {
    SendProgress();
    next_progress_ = now + kProgressInterval;
  }
  const std::scoped_lock lock(active_mutex_);
  if (active_.empty()) return -1;
  return static_cast<int>(std::chrono::ceil<milliseconds>(next_progress_ - now).count());
}

void Server::SendProgress() {
  for (const std::shared_ptr<Call>& call : ActiveCalls()) {
    const std::scoped_lock lock(call->mutex);
    const auto elapsed = duration_cast<milliseconds>(options_.now() - call->began);
    const bool is_due = elapsed >= call->last_progress + kProgressInterval;
    if (call->params.progress_token.is_null() || !is_due || !writer_.HasRoom()) continue;
    call->last_progress = elapsed;
    const auto seconds = duration_cast<std::chrono::seconds>(elapsed);
    call->reply.Notify("notifications/progress",
                       {{"progressToken", call->params.progress_token},
                        {"progress", static_cast<double>(elapsed.count()) / 1000},
                        {"message", call->status + " (" + support::FormatDuration(seconds) + ")"}});
  }
}

}  // namespace mcp
