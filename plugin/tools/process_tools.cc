#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"
#include "tools/command_arguments.h"
#include "tools/text_results.h"
#include "tools/tools.h"

namespace tools {
namespace {

using nlohmann::json;
using shell::Processes;
using std::chrono::milliseconds;

/// Clients give up after 60 s at the earliest.
constexpr milliseconds kMaximumWait{30'000};
constexpr milliseconds kStartWait{1000};
constexpr milliseconds kWriteWait{1000};

milliseconds WaitOf(const json& arguments, milliseconds default_wait) {
  const milliseconds wait(arguments.value("wait_ms", std::int64_t{default_wait.count()}));
  return std::clamp(wait, milliseconds(0), kMaximumWait);
}

std::size_t MaximumOutput(const mcp::ToolCall& call) {
  if (!WantsText(call)) return shell::kMaximumRead;
  return std::min(shell::kMaximumRead, TextRoom(call));
}

/// A process, or a command whose output was cut (no `running`).
struct Answer {
  std::string id;
  std::optional<bool> running;
  std::optional<int> exit_code;
  std::string error;

  [[nodiscard]] json Structured() const {
    json structured = {{"id", id}};
    if (running) structured["running"] = *running;
    if (exit_code) structured["exit_code"] = *exit_code;
    if (!error.empty()) structured["error"] = error;
    return structured;
  }

  /// "p1 running"
  [[nodiscard]] std::string Text() const {
    std::string text = id;
    if (running) text += *running ? " running" : exit_code ? " exited with " : " ended";
    if (exit_code) text += std::to_string(*exit_code);
    if (!error.empty()) text += ": " + error;
    return text;
  }
};

Answer AnswerOf(const std::string& id, const Processes::State& state) {
  return {id, state.running, state.exit_status, support::ToUtf8(state.problem)};
}

mcp::ToolResult ResultOf(const mcp::ToolCall& call, const Answer& answer,
                         const shell::OutputLog::Piece& piece, std::uint64_t remaining) {
  mcp::ToolResult result;
  result.structured = answer.Structured();
  result.structured["output"] = piece.text;
  result.structured["next_offset"] = piece.end;
  if (remaining > 0) result.structured["remaining"] = remaining;
  if (piece.dropped > 0) result.structured["dropped"] = piece.dropped;
  if (!WantsText(call)) return result;

  std::string text;
  if (piece.dropped > 0) text = "[" + std::to_string(piece.dropped) + " bytes before are gone]\n";
  text += piece.text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += remaining == 0 && !answer.running ? "[end of " : "[";
  text += answer.Text();
  if (answer.running.value_or(false) || remaining > 0) {
    text += "; next_offset " + std::to_string(piece.end);
  }
  if (remaining > 0) text += "; " + std::to_string(remaining) + " more bytes can be read now";
  result.text = text + "]";
  return result;
}

mcp::ToolResult ListOf(const mcp::ToolCall& call, const std::vector<Processes::Listed>& processes) {
  mcp::ToolResult result;
  json& list = result.structured["processes"] = json::array();
  std::string text;
  for (const auto& [description, state] : processes) {
    const Answer answer = AnswerOf(description.id, state);
    json entry = {{"id", description.id},
                  {"command", support::ToUtf8(description.command)},
                  {"directory", description.directory},
                  {"running", state.running},
                  {"started", support::FormatDate(description.started)}};
    if (state.exit_status) entry["exit_code"] = *state.exit_status;
    text += answer.Text() + ": " + entry["command"].get<std::string>() + " (in " +
            description.directory + ", since " + entry["started"].get<std::string>() + ")\n";
    list.push_back(std::move(entry));
  }
  if (WantsText(call)) result.text = text.empty() ? "No process has been started." : text;
  return result;
}

}  // namespace

mcp::ToolResult StartProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const std::vector<std::string> words = CommandArgument(call.arguments);
  const std::string command = CommandText(words);
  const auto directory = call.arguments.at("directory").get<std::string>();
  std::string id;
  // The time starts once there is a connection: with `--start`, the VM boots first.
  std::optional<support::Context> starting;
  WithWorkspace(toolbox.workspaces, call.context, call.progress, [&](const Workspace& workspace) {
    if (!starting) starting = call.context.WithTimeout(kFileToolTimeLimit);
    call.progress.SetStatus("waiting for the guest to start the process");
    const std::string guest_directory =
        workspace.paths->Resolve(directory, paths::Access::kRead, *workspace.guest, *starting)
            .guest;
    id = toolbox.processes.Start({command, words.front(), guest_directory, workspace.shell},
                                 directory, *workspace.guest, *starting);
    return mcp::ToolResult();
  });
  call.progress.SetStatus(id + " has been started");
  try {
    const Processes::Output output =
        toolbox.processes.Read(id, {}, Processes::Wait::kForEnd, WaitOf(call.arguments, kStartWait),
                               call.context, MaximumOutput(call));
    Answer answer = AnswerOf(id, output.state);
    if (answer.exit_code) answer.error += ShellLineHint(*answer.exit_code, words);
    return ResultOf(call, answer, output.piece, output.remaining);
  } catch (const support::Stopped&) {
    toolbox.processes.Abandon(id);
    throw;
  }
}

mcp::ToolResult ReadProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.find("id");
  if (id == call.arguments.end()) return ListOf(call, toolbox.processes.List());
  const auto name = id->get<std::string>();
  std::optional<std::int64_t> offset;
  if (const auto given = call.arguments.find("offset"); given != call.arguments.end()) {
    offset = given->get<std::int64_t>();
  }
  if (name.starts_with('c')) {
    const auto [piece, remaining] = toolbox.cut_outputs.Read(name, offset, MaximumOutput(call));
    return ResultOf(call, {name, {}, {}, ""}, piece, remaining);
  }
  const Processes::Output output = toolbox.processes.Read(name, offset, Processes::Wait::kForOutput,
                                                          WaitOf(call.arguments, milliseconds(0)),
                                                          call.context, MaximumOutput(call));
  return ResultOf(call, AnswerOf(name, output.state), output.piece, output.remaining);
}

mcp::ToolResult WriteProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.at("id").get<std::string>();
  const auto input = call.arguments.value("input", std::string());
  const auto signal = call.arguments.value("signal", std::string());
  const Processes::Request request{input, call.arguments.value("end_input", false), signal};
  const Answer answer =
      AnswerOf(id, toolbox.processes.Write(id, request, kWriteWait, call.context));
  mcp::ToolResult result;
  result.structured = answer.Structured();
  if (WantsText(call)) result.text = "[" + answer.Text() + "]";
  return result;
}

}  // namespace tools
