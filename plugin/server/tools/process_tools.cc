// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "shell/shells.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/regex.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using shell::Processes;
using std::chrono::milliseconds;
using support::Format;
using enum Processes::Wait;

/// Clients give up after 60 s at the earliest.
constexpr milliseconds kMaxWait{30'000};
constexpr milliseconds kNoLimitWait = std::chrono::hours(24);
constexpr milliseconds kStartWait{1000};
constexpr milliseconds kWriteWait{1000};

// In bytes: of an expression's memory, of a line that it sees, and of one that is returned.
constexpr std::int64_t kMaxExpression = std::int64_t{1} << 20;
constexpr std::size_t kMaxLine = std::size_t{64} << 10;
constexpr std::size_t kMaxMatched = 2000;

/// Bytes of a command or directory in a list, so that it fits with all processes that there can be.
constexpr std::size_t kMaxListedText = 200;

milliseconds WaitOf(const nlohmann::json& arguments, milliseconds default_wait,
                    milliseconds longest = kMaxWait) {
  const milliseconds wait(arguments.value("wait_ms", std::int64_t{default_wait.count()}));
  return std::clamp(wait, milliseconds(0), longest);
}

std::string DescribeLateStart(const std::string& directory) {
  return Format(
      "The process in {} did not start in time. What may have started was stopped. "
      "Try again, or check the guest with run_shell_command ([\"uptime\"]).",
      directory);
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

/// Looks for a line in output that comes in pieces.
class LineSearch {
 public:
  /// `maximum`: bytes of the result. Throws support::Error.
  LineSearch(const std::string& until, std::size_t maximum)
      : expression_(Compiled(until)), maximum_(maximum) {}

  /// Returns whether a line has matched. After an empty piece, one that is not complete counts,
  /// too.
  bool Look(const shell::OutputLog::Piece& piece) {
    std::string_view output = piece.text;
    if (!begin_) begin_ = piece.end - output.size() - piece.dropped;
    if (piece.dropped > 0) {
      kept_.clear();
      line_.clear();
      is_fragment_ = true;
    }
    if (output.empty() && !line_.empty()) LookAtLine();
    while (!output.empty() && !matched_) {
      const std::size_t size = std::min(output.find('\n'), output.size() - 1) + 1;
      line_ += output.substr(0, std::min(size, kMaxLine - line_.size()));
      kept_ += output.substr(0, size);
      output.remove_prefix(size);
      if (!kept_.ends_with('\n')) continue;
      LookAtLine();
      line_.clear();
      is_fragment_ = false;
    }
    kept_.erase(0, kept_.size() - std::min(kept_.size(), maximum_));
    end_ = piece.end - output.size();
    return matched_.has_value();
  }

  /// What was looked at: the guest may drop it before `read(offset, maximum)` can.
  template <typename Read>
  ProcessOutput Result(const Read& read) {
    if (!matched_) return read(begin_, maximum_);
    ProcessOutput last = read(end_, 0);
    last.piece.text = support::WithoutCutBeginning(kept_);
    last.piece.dropped = end_ - *begin_ - last.piece.text.size();
    last.matched = matched_;
    return last;
  }

 private:
  static support::Regex Compiled(const std::string& until) {
    try {
      return support::Regex(until, support::Regex::Encoding::kUtf8, kMaxExpression);
    } catch (const std::invalid_argument& error) {
      throw support::Error("`until`: {}", error.what());
    }
  }

  void LookAtLine() {
    static const support::Regex colours("\x1B\\[[0-?]*m");
    if (is_fragment_) return;
    std::string text = support::ToUtf8(line_);
    text.erase(text.find_last_not_of("\r\n") + 1);
    if (text.find('\x1B') != std::string::npos) colours.ReplaceAll(text, "");
    if (expression_.PartialMatch(text)) matched_ = support::CutText(text, kMaxMatched);
  }

  const support::Regex expression_;
  const std::size_t maximum_;
  std::optional<std::uint64_t> begin_;  // of what it has looked at
  std::uint64_t end_ = 0;
  std::string kept_;
  std::string line_;
  bool is_fragment_ = false;  // the line's beginning is gone
  std::optional<std::string> matched_;
};

}  // namespace

ProcessOutput StartProcess(Task& task) {
  const mcp::ToolCall& call = task.call;
  Toolbox& toolbox = task.toolbox;
  const Command command = ParseCommand(call.arguments);
  const auto path = call.arguments.at("directory").get<std::string>();
  const std::size_t denied = toolbox.options.denials->count();
  const Workspace& workspace = task.workspace();
  task.LimitTime(DescribeLateStart(path));
  const std::string directory = task.ResolveDirectory();
  call.progress.SetStatus("waiting for the guest to start the process");
  const auto on_queued = [&] {
    const std::string running = workspace.guest->shells().Running();
    call.progress.SetStatus(Format("waiting: {}", running));
    return running;
  };
  const std::string id =
      toolbox.processes.Start({command.text, command.words.front(), directory, workspace.shell},
                              path, *workspace.guest, on_queued, task.context);
  call.progress.SetStatus(Format("{} has been started", id));
  const auto time_left =
      std::chrono::duration_cast<milliseconds>(task.context.deadline() - support::Clock::now());
  try {
    if (time_left <= milliseconds(0)) throw support::Error(DescribeLateStart(path));
    const Processes::Output output = toolbox.processes.Read(
        id, {}, kForEnd, std::min(WaitOf(call.arguments, kStartWait), time_left), call.context,
        LimitsFor(call.format).process_bytes);
    ProcessState state = StateOf(id, output.state);
    if (state.end.exit_code) state.end.error += ShellLineHint(*state.end.exit_code, command);
    if (state.end.error.empty()) state.end.error = command.note;
    return {.state = std::move(state),
            .piece = output.piece,
            .notes = {toolbox.options.denials->NoteFor(id, denied)}};
  } catch (...) {  // the agent does not learn the id
    toolbox.processes.Stop(id);
    throw;
  }
}

Result ReadProcess(Task& task) {
  const mcp::ToolCall& call = task.call;
  Toolbox& toolbox = task.toolbox;
  const auto id = call.arguments.value("id", std::string());
  const bool waits = !call.arguments.value("until", std::string()).empty();
  if (id.empty() && !waits) return List(toolbox.processes);
  const std::size_t maximum = LimitsFor(call.format).process_bytes;
  std::optional<std::int64_t> offset;
  if (const auto given = call.arguments.find("offset"); given != call.arguments.end()) {
    offset = given->get<std::int64_t>();
  }
  const bool is_cut = support::Regex("c\\d+").FullMatch(id);  // as CutOutputs::Keep makes them
  const auto read = [&](std::optional<std::int64_t> from, std::size_t most,
                        milliseconds time = {}) -> ProcessOutput {
    if (is_cut) return {{.id = id}, toolbox.cut_outputs.Read(id, from, most)};
    const auto output = toolbox.processes.Read(id, from, kForOutput, time, call.context, most);
    return {.state = StateOf(id, output.state),
            .piece = output.piece,
            .notes = {toolbox.options.denials->NoteFor(id)}};
  };
  if (!waits) return read(offset, maximum, WaitOf(call.arguments, {}));
  const milliseconds limit = toolbox.options.command_timeout;
  const milliseconds longest = limit.count() > 0 ? limit : kNoLimitWait;
  LineSearch search(call.arguments.at("until"), maximum);
  if (is_cut) {
    const auto all = toolbox.cut_outputs.Read(id, offset, shell::CutOutputs::kMaxOutput);
    if (!search.Look(all)) search.Look({.end = all.end});
  } else {
    toolbox.processes.Watch(
        id, offset, [&](const auto& piece) { return search.Look(piece); },
        WaitOf(call.arguments, longest, longest), call.context);
  }
  ProcessOutput result = search.Result(read);
  if (result.piece.text.empty() && result.state.running.value_or(false)) {
    result.state.end.error =
        "no output yet; without a terminal a program may hold it back: try stdbuf -oL, python -u";
  }
  return result;
}

ProcessState WriteProcess(Task& task) {
  const mcp::ToolCall& call = task.call;
  const auto id = call.arguments.at("id").get<std::string>();
  const auto input = call.arguments.value("input", std::string());
  const auto signal = call.arguments.value("signal", std::string());
  const Processes::Input request{input, call.arguments.value("end_input", false), signal};
  return StateOf(id, task.toolbox.processes.Write(id, request, kWriteWait, call.context));
}

}  // namespace tools
