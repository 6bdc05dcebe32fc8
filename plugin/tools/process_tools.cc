// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "shell/shells.h"
#include "support/errors.h"
#include "support/format.h"
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
  /// `kept`: how many bytes at the end of what it has looked at. Throws support::CallError.
  LineSearch(const std::string& until, std::size_t kept)
      : expression_(until, Options()), max_kept_(kept) {
    if (!expression_.ok()) throw support::CallError("`until`: {}", expression_.error());
  }

  /// Returns what is behind the first line that matches.
  std::string_view Look(std::string_view output) {
    while (!output.empty() && !matched_) {
      const std::size_t size = std::min(output.find('\n'), output.size() - 1) + 1;
      line_ += output.substr(0, std::min(size, kMaxLine - line_.size()));
      kept_ += output.substr(0, size);
      const bool is_complete = kept_.ends_with('\n');
      output.remove_prefix(size);
      if (is_complete) EndLine();
    }
    kept_.erase(0, kept_.size() - std::min(kept_.size(), max_kept_));
    return output;
  }

  /// What comes next does not follow.
  void Skip() {
    kept_.clear();
    line_.clear();
    is_fragment_ = true;
  }

  /// The line that is not complete counts, too.
  void LookAtRest() {
    if (!line_.empty() && !matched_) LookAtLine();
  }

  [[nodiscard]] const std::optional<std::string>& matched() const { return matched_; }
  [[nodiscard]] std::string_view kept() const { return support::WithoutCutBeginning(kept_); }

 private:
  static re2::RE2::Options Options() {
    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_max_mem(kMaxExpression);
    return options;
  }

  void EndLine() {
    LookAtLine();
    line_.clear();
    is_fragment_ = false;
  }

  void LookAtLine() {
    static const re2::RE2 colours("\x1B\\[[0-?]*m");
    if (is_fragment_) return;
    std::string text = support::ToUtf8(line_);
    text.erase(text.find_last_not_of("\r\n") + 1);
    if (text.find('\x1B') != std::string::npos) re2::RE2::GlobalReplace(&text, colours, "");
    if (re2::RE2::PartialMatch(text, expression_)) matched_ = support::CutText(text, kMaxMatched);
  }

  const re2::RE2 expression_;
  const std::size_t max_kept_;
  std::string kept_;
  std::string line_;
  bool is_fragment_ = false;  // the line's beginning is gone
  std::optional<std::string> matched_;
};

/// `watch(look)` shows `look` the output, `read(offset, maximum)` reads it. The result is what was
/// looked at: the guest may drop it before it can be read again.
template <typename Watch, typename Read>
ProcessOutput ReadUntil(const std::string& until, std::size_t maximum, const Watch& watch,
                        const Read& read) {
  LineSearch search(until, maximum);
  std::optional<std::uint64_t> begin;
  std::uint64_t end = 0;
  watch([&](const shell::OutputLog::Piece& piece) {
    if (!begin) begin = piece.end - piece.text.size() - piece.dropped;
    if (piece.dropped > 0) search.Skip();
    end = piece.end - search.Look(piece.text).size();
    if (piece.text.empty()) search.LookAtRest();
    return search.matched().has_value();
  });
  if (!search.matched()) return read(begin, maximum);
  ProcessOutput last = read(end, 0);
  last.piece.text = search.kept();
  last.piece.dropped = last.piece.end - *begin - last.piece.text.size();
  last.matched = search.matched();
  return last;
}

}  // namespace

ProcessOutput StartProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const Command command = ParseCommand(call.arguments);
  const auto path = call.arguments.at("directory").get<std::string>();
  support::Clock::time_point deadline;
  std::string id;
  std::string note;
  InTime(DescribeLateStart(path), [&] {
    WithCommand(toolbox, call, command, call.context, true, [&](const CommandCall& start) {
      deadline = start.context.deadline();
      note = start.note;
      call.progress.SetStatus("waiting for the guest to start the process");
      const auto on_queued = [&] {
        const std::string running = start.workspace.guest->shells().Running();
        call.progress.SetStatus(Format("waiting: {}", running));
        return running;
      };
      id = toolbox.processes.Start(
          {command.text, command.words.front(), start.directory, start.workspace.shell}, path,
          *start.workspace.guest, on_queued, start.context);
    });
  });
  call.progress.SetStatus(Format("{} has been started", id));
  const auto time_left = std::chrono::duration_cast<milliseconds>(deadline - support::Clock::now());
  try {
    if (time_left <= milliseconds(0)) throw support::CallError(DescribeLateStart(path));
    const Processes::Output output = toolbox.processes.Read(
        id, {}, kForEnd, std::min(WaitOf(call.arguments, kStartWait), time_left), call.context,
        LimitsFor(call.format).process_bytes);
    ProcessState state = StateOf(id, output.state);
    if (state.end.exit_code) state.end.error += ShellLineHint(*state.end.exit_code, command);
    if (state.end.error.empty()) state.end.error = note;
    return {std::move(state), output.piece};
  } catch (...) {  // the agent does not learn the id
    toolbox.processes.Stop(id);
    throw;
  }
}

Result ReadProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.value("id", std::string());
  const bool waits = !call.arguments.value("until", std::string()).empty();
  if (id.empty() && !waits) return List(toolbox.processes);
  const std::size_t maximum = LimitsFor(call.format).process_bytes;
  std::optional<std::int64_t> offset;
  if (const auto given = call.arguments.find("offset"); given != call.arguments.end()) {
    offset = given->get<std::int64_t>();
  }
  const bool is_cut = re2::RE2::FullMatch(id, "c\\d+");  // as CutOutputs::Keep makes them
  const auto read = [&](std::optional<std::int64_t> from, std::size_t most,
                        milliseconds time = {}) -> ProcessOutput {
    if (is_cut) return {{.id = id}, toolbox.cut_outputs.Read(id, from, most)};
    const auto output = toolbox.processes.Read(id, from, kForOutput, time, call.context, most);
    return {StateOf(id, output.state), output.piece};
  };
  if (!waits) return read(offset, maximum, WaitOf(call.arguments, {}));
  const milliseconds limit = toolbox.options.command_timeout;
  const milliseconds longest = limit.count() > 0 ? limit : kNoLimitWait;
  const auto watch = [&](const Processes::Look& look) {
    const milliseconds time = WaitOf(call.arguments, longest, longest);
    if (!is_cut) return toolbox.processes.Watch(id, offset, look, time, call.context);
    auto piece = toolbox.cut_outputs.Read(id, offset, maximum, true);
    while (!look(piece) && !piece.text.empty())
      piece = toolbox.cut_outputs.Read(id, piece.end, maximum, true);
  };
  return ReadUntil(call.arguments.at("until"), maximum, watch, read);
}

ProcessState WriteProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.at("id").get<std::string>();
  const auto input = call.arguments.value("input", std::string());
  const auto signal = call.arguments.value("signal", std::string());
  const Processes::Input request{input, call.arguments.value("end_input", false), signal};
  return StateOf(id, toolbox.processes.Write(id, request, kWriteWait, call.context));
}

}  // namespace tools
