#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using shell::Processes;
using std::chrono::milliseconds;

/// Clients give up after 60 s at the earliest.
constexpr milliseconds kMaxWait{30'000};
constexpr milliseconds kStartWait{1000};
constexpr milliseconds kWriteWait{1000};

/// Bytes of a command or directory in a list, so that it fits with all processes that there can be.
constexpr std::size_t kMaxListedText = 200;

milliseconds WaitOf(const nlohmann::json& arguments, milliseconds default_wait) {
  const milliseconds wait(arguments.value("wait_ms", std::int64_t{default_wait.count()}));
  return std::clamp(wait, milliseconds(0), kMaxWait);
}

std::string DescribeLateStart(const std::string& directory) {
  return "The process in " + directory +
         " did not start in time. What may have started was stopped. Try again, or check the guest "
         "with run_shell_command ([\"uptime\"]).";
}

ProcessState StateOf(const std::string& id, const Processes::State& state) {
  return {id, state.running, {state.exit_status, support::ToUtf8(state.problem)}};
}

/// The beginning of a command or path, for a list.
std::string Shorten(const std::string& text) {
  if (text.size() <= kMaxListedText) return support::ToUtf8(text);
  return support::ToUtf8(support::CutText(text, kMaxListedText)) + "…";
}

ProcessList List(Processes& processes) {
  ProcessList list;
  for (const auto& [description, state] : processes.List()) {
    list.push_back({StateOf(description.id, state), Shorten(description.command),
                    Shorten(description.directory), description.started});
  }
  return list;
}

}  // namespace

ProcessOutput StartProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const Command command = ParseCommand(call.arguments);
  const auto path = call.arguments.at("directory").get<std::string>();
  support::Clock::time_point deadline;
  std::string id;
  std::string note;
  InTime(DescribeLateStart(path), [&] {
    WithDirectory(toolbox, call, call.context,
                  [&](const Workspace& workspace, const std::string& directory,
                      std::optional<support::Context>& limited) {
                    deadline = limited->deadline();
                    note = CheckShellSigns(command.words, directory, *workspace.guest, *limited);
                    call.progress.SetStatus("waiting for the guest to start the process");
                    id = toolbox.processes.Start(
                        {command.text, command.words.front(), directory, workspace.shell}, path,
                        *workspace.guest, *limited);
                  });
  });
  call.progress.SetStatus(id + " has been started");
  const auto time_left = std::chrono::duration_cast<milliseconds>(deadline - support::Clock::now());
  try {
    if (time_left <= milliseconds(0)) throw support::CallError(DescribeLateStart(path));
    const Processes::Output output = toolbox.processes.Read(
        id, {}, Processes::Wait::kForEnd, std::min(WaitOf(call.arguments, kStartWait), time_left),
        call.context, LimitsFor(call.format).process_bytes);
    ProcessState state = StateOf(id, output.state);
    if (state.end.exit_code) state.end.error += ShellLineHint(*state.end.exit_code, command);
    if (state.end.error.empty()) state.end.error = note;
    return {std::move(state), output.piece};
  } catch (...) {  // the agent does not learn the id
    toolbox.processes.Abandon(id);
    throw;
  }
}

Result ReadProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.value("id", std::string());
  if (id.empty()) return List(toolbox.processes);
  const std::size_t maximum = LimitsFor(call.format).process_bytes;
  std::optional<std::int64_t> offset;
  if (const auto given = call.arguments.find("offset"); given != call.arguments.end()) {
    offset = given->get<std::int64_t>();
  }
  if (re2::RE2::FullMatch(id, "c\\d+")) {  // as CutOutputs::Keep makes them
    return ProcessOutput{{.id = id}, toolbox.cut_outputs.Read(id, offset, maximum)};
  }
  const Processes::Output output =
      toolbox.processes.Read(id, offset, Processes::Wait::kForOutput,
                             WaitOf(call.arguments, milliseconds(0)), call.context, maximum);
  return ProcessOutput{StateOf(id, output.state), output.piece};
}

ProcessState WriteProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.at("id").get<std::string>();
  const auto input = call.arguments.value("input", std::string());
  const auto signal = call.arguments.value("signal", std::string());
  const Processes::Request request{input, call.arguments.value("end_input", false), signal};
  return StateOf(id, toolbox.processes.Write(id, request, kWriteWait, call.context));
}

}  // namespace tools
