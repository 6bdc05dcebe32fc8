#include "fake_tools.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "agents/agent.h"
#include "mcp/json_writer.h"
#include "mcp/message.h"
#include "support/errors.h"

namespace transcripts {
namespace {

using mcp::ToolCall;
using mcp::ToolDefinition;
using mcp::ToolResult;
using nlohmann::json;

ToolResult Content(const json& structured) {
  return {.content = mcp::ToJson(structured)};
}

ToolResult Fail(const std::string& how) {
  if (how == "call_error") throw support::CallError("the disk is full: free some space");
  if (how == "timeout") throw support::Stopped(support::StopReason::kDeadline);
  if (how == "protocol_error") {
    throw mcp::ProtocolError(mcp::ErrorCode::kInvalidParams, "refused", {{"why", "test"}});
  }
  throw std::runtime_error("a bug");
}

/// Where the calls to `block` meet those that control them.
class Gates {
 public:
  ToolResult Block(const ToolCall& call) {
    const std::string name = call.arguments["name"];
    const bool deaf = call.arguments.value("deaf", false);
    std::unique_lock lock(mutex_);
    Gate& gate = gates_[name];
    gate.context = call.context;
    gate.started = true;
    changed_.notify_all();
    const auto released = [&gate] { return gate.released; };
    if (!support::WaitUntil(changed_, lock, call.context, released)) {
      gate.stopped = true;
      changed_.notify_all();
      if (deaf) changed_.wait(lock, released);
    }
    lock.unlock();
    if (!deaf) call.context.ThrowIfStopped();
    return Content({{"released", name}});
  }

  ToolResult AwaitStarted(const ToolCall& call) {
    std::unique_lock lock(mutex_);
    const Gate& gate = gates_[call.arguments["name"]];
    changed_.wait(lock, [&gate] { return gate.started; });
    return Content({{"started", true}});
  }

  ToolResult AwaitStopped(const ToolCall& call) {
    std::unique_lock lock(mutex_);
    const Gate& gate = gates_[call.arguments["name"]];
    changed_.wait(lock, [&gate] { return gate.stopped; });
    return Content({{"stopped", support::Describe(gate.context.stop_reason())}});
  }

  ToolResult Release(const ToolCall& call) {
    const std::scoped_lock lock(mutex_);
    gates_[call.arguments["name"]].released = true;
    changed_.notify_all();
    return {};
  }

 private:
  struct Gate {
    bool started = false;
    bool stopped = false;
    bool released = false;
    support::Context context;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Gate> gates_;
};

ToolResult Report(FakeHeartbeat& heartbeat, const ToolCall& call) {
  const std::chrono::milliseconds between(
      std::lround(call.arguments["seconds_between"].get<double>() * 1000));
  for (const json& message : call.arguments["messages"]) {
    call.progress.SetStatus(message);
    heartbeat.Advance(between);
  }
  return {};
}

json Object(json properties, json required = json::array()) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

json String() {
  return {{"type", "string"}};
}

ToolDefinition EchoDefinition() {
  return {.name = "echo",
          .title = "Echo",
          .description = "Gives the text back",
          .input_schema = Object({{"text", String()}}, {"text"}),
          .output_schema = Object({{"text", String()}}, {"text"}),
          .annotations = {{"readOnlyHint", true}},
          .meta = {{"example.com/key", 1}}};
}

ToolDefinition ChoosyDefinition() {
  const json properties = {{"count", {{"type", "integer"}, {"minimum", 1}}},
                           {"words", {{"type", "array"}, {"items", String()}}},
                           {"path", {{"type", {"null", "string"}}}},
                           {"nested", Object({{"deep", {{"type", "boolean"}}}}, {"deep"})}};
  return {.name = "choosy", .description = "Checks", .input_schema = Object(properties)};
}

}  // namespace

std::vector<mcp::Tool> MakeFakeTools(FakeHeartbeat& heartbeat) {
  const auto gates = std::make_shared<Gates>();
  std::vector<mcp::Tool> tools;
  const auto add = [&tools](ToolDefinition definition,
                            std::function<ToolResult(const ToolCall&)> call) {
    tools.push_back({std::move(definition), std::move(call)});
  };
  const auto simple = [](std::string name, json schema) {
    return ToolDefinition{
        .name = std::move(name), .description = "For tests", .input_schema = std::move(schema)};
  };
  const json named = Object({{"name", String()}, {"deaf", {{"type", "boolean"}}}}, {"name"});

  add(simple("release", named), [gates](const ToolCall& call) { return gates->Release(call); });
  add(EchoDefinition(), [](const ToolCall& call) {
    if (call.format.style == mcp::ResultStyle::kStructured) return Content(call.arguments);
    return ToolResult{.style = mcp::ResultStyle::kText, .content = call.arguments["text"]};
  });
  add(ChoosyDefinition(), [](const ToolCall& call) { return Content(call.arguments); });
  add(simple("block", named), [gates](const ToolCall& call) { return gates->Block(call); });
  add(simple("await_started", named),
      [gates](const ToolCall& call) { return gates->AwaitStarted(call); });
  add(simple("await_stopped", named),
      [gates](const ToolCall& call) { return gates->AwaitStopped(call); });
  add(simple("report", Object({{"messages", {{"type", "array"}, {"items", String()}}},
                               {"seconds_between", {{"type", "number"}}}},
                              {"messages", "seconds_between"})),
      [&heartbeat](const ToolCall& call) { return Report(heartbeat, call); });
  add(simple("fail", Object({{"how", String()}}, {"how"})),
      [](const ToolCall& call) { return Fail(call.arguments["how"]); });
  add(simple("bad_bytes", Object(json::object())), [](const ToolCall&) {
    return Content({{"text", "a\xFF\xC0z"}});
  });
  add(simple("image", Object(json::object())), [](const ToolCall&) {
    ToolResult result = Content({{"content", "an image"}});
    result.more_content = {{{"type", "image"}, {"data", "aGk="}, {"mimeType", "image/png"}}};
    return result;
  });
  add(simple("big", Object({{"bytes", {{"type", "integer"}}}}, {"bytes"})),
      [](const ToolCall& call) {
        // The serializer takes most of a test's time without optimisation.
        std::string content = R"({"text":")";
        content.append(call.arguments["bytes"].get<std::size_t>(), 'x');
        return ToolResult{.content = content + "\"}"};
      });
  return tools;
}

mcp::ServerOptions FakeServerOptions(FakeHeartbeat& heartbeat) {
  mcp::ServerOptions options;
  options.info = {{"name", "lima"}, {"title", "Lima"}, {"version", "1.2.3"}};
  options.instructions = [] { return std::string("Paths under /work only."); };
  options.result_format = [](std::string_view client) { return agents::FormatFor(client); };
  options.now = [&heartbeat] { return heartbeat.Now(); };
  return options;
}

}  // namespace transcripts
