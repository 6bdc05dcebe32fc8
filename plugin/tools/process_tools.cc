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

/// After this time without output, a line that is not complete counts: it may be a prompt.
constexpr milliseconds kPromptWait{200};
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
    static const re2::RE2 unseen("\r*\n?$|\x1B\\[[0-?]*m");  // the line end, and colours
    if (is_fragment_) return;
    std::string text = support::ToUtf8(line_);
    re2::RE2::GlobalReplace(&text, unseen, "");
    if (re2::RE2::PartialMatch(text, expression_)) matched_ = support::CutText(text, kMaxMatched);
  }

  const re2::RE2 expression_;
  const std::size_t max_kept_;
  std::string kept_;
  std::string line_;
  bool is_fragment_ = false;  // the line's beginning is gone
  std::optional<std::string> matched_;
};

/// Waits until a line matches, the end, or the time is over. `read(offset, wait, time, maximum)`.
/// The result is what was looked at: the guest may drop it before it can be read again.
template <typename Read>
ProcessOutput ReadUntil(const mcp::ToolCall& call, std::optional<std::int64_t> offset,
                        milliseconds time, std::size_t maximum, const Read& read) {
  LineSearch search(call.arguments.at("until").get<std::string>(), maximum);
  const auto deadline = support::Clock::now() + time;
  ProcessOutput seen = read(offset, kToPeek, {}, maximum);
  const std::uint64_t begin = seen.piece.end - seen.piece.text.size() - seen.piece.dropped;
  std::string_view rest;
  while (true) {
    call.context.ThrowIfStopped();
    if (seen.piece.dropped > 0) search.Skip();
    rest = search.Look(seen.piece.text);
    const bool is_over = !seen.state.running.value_or(false) && seen.piece.remaining == 0;
    const auto left = std::chrono::ceil<milliseconds>(deadline - support::Clock::now());
    const bool is_prompt = is_over || seen.piece.text.empty() || left.count() <= 0;
    if (is_prompt) search.LookAtRest();
    if (search.matched() || is_over || left.count() <= 0) break;
    seen = read(seen.piece.end, kToPeek, is_prompt ? left : std::min(left, kPromptWait), maximum);
  }
  if (!search.matched()) return read(begin, kForOutput, {}, maximum);
  ProcessOutput last = read(seen.piece.end - rest.size(), kForOutput, {}, 0);
  last.piece.text = search.kept();
  last.piece.dropped = last.piece.end - begin - last.piece.text.size();
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
  const auto read = [&](std::optional<std::int64_t> from, Processes::Wait wait, milliseconds time,
                        std::size_t most) -> ProcessOutput {
    if (is_cut) return {{.id = id}, toolbox.cut_outputs.Read(id, from, most, wait == kToPeek)};
    const auto output = toolbox.processes.Read(id, from, wait, time, call.context, most);
    return {StateOf(id, output.state), output.piece};
  };
  if (!waits) return read(offset, kForOutput, WaitOf(call.arguments, {}), maximum);
  const milliseconds limit = toolbox.options.command_timeout;
  const milliseconds longest = limit.count() > 0 ? limit : kNoLimitWait;
  return ReadUntil(call, offset, WaitOf(call.arguments, longest, longest), maximum, read);
}

ProcessState WriteProcess(Toolbox& toolbox, const mcp::ToolCall& call) {
  const auto id = call.arguments.at("id").get<std::string>();
  const auto input = call.arguments.value("input", std::string());
  const auto signal = call.arguments.value("signal", std::string());
  const Processes::Input request{input, call.arguments.value("end_input", false), signal};
  return StateOf(id, toolbox.processes.Write(id, request, kWriteWait, call.context));
}

}  // namespace tools
