// SPDX-License-Identifier: Apache-2.0
#include "shell/command_output.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/utf8.h"

namespace shell {
namespace {

/// In bytes.
constexpr std::size_t kMaxShownLine = 200;
/// A longer line is shortened if it was redrawn.
constexpr std::size_t kMaxRedrawn = 2000;

std::string_view CutEnd(std::string_view head) {
  const std::size_t newline = head.rfind('\n');
  const bool has_line_end = newline != std::string_view::npos && newline >= head.size() / 2;
  return has_line_end ? head.substr(0, newline + 1) : support::WithoutCutEnd(head);
}

/// The first byte of `tail` is not kept: it shows whether a line begins after it.
std::string_view CutBeginning(std::string_view tail) {
  const std::size_t newline = tail.find('\n');
  const bool has_line_end = newline != std::string_view::npos && newline <= tail.size() / 2;
  if (has_line_end) return tail.substr(newline + 1);
  return support::WithoutCutBeginning(tail.substr(std::min<std::size_t>(1, tail.size())));
}

/// The states of a line that was redrawn; not those that show nothing.
std::vector<std::string_view> StatesOf(std::string_view line) {
  // "ESC [K" alone separates nothing: grep has it in each coloured match.
  static const support::Regex separator(
      R"((?:\r|\x1B\[(?:2K|[01]?G))(?:\r|\x1B\[(?:[0-2]?K|[01]?G))*)", support::Regex::kLatin1);
  std::vector<std::string_view> states;
  while (!line.empty()) {
    const std::string_view found = separator.Find(line);
    const auto size = static_cast<std::size_t>(found.data() - line.data());
    const std::string_view state = line.substr(0, size);
    if (std::ranges::any_of(state, [](char c) { return c < 0 || c >= ' '; }))
      states.push_back(state);
    line.remove_prefix(size + found.size());
  }
  return states;
}

std::string_view LastState(std::string_view line) {
  constexpr std::string_view kErase = "\x1B[K";
  const auto states = StatesOf(line);
  std::string_view last = states.empty() ? "" : states.back();
  if (last.size() < line.size() && last.ends_with(kErase)) last.remove_suffix(kErase.size());
  return last;
}

}  // namespace

void CappedOutput::Add(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t into_head = std::min(bytes.size(), half_ - head_.size());
  head_ += bytes.substr(0, into_head);
  bytes.remove_prefix(into_head);
  const std::size_t wanted = half_ + 1;  // and the byte before, for CutBeginning
  if (bytes.size() > wanted) bytes.remove_prefix(bytes.size() - wanted);
  tail_ += bytes;
  // Not at each call: many small pieces would move the tail each time.
  if (tail_.size() > 2 * wanted) tail_.erase(0, tail_.size() - wanted);
}

std::string CappedOutput::Text(std::string_view remedy) const {
  if (!is_cut()) return head_ + tail_;
  const std::size_t wanted = std::min(tail_.size(), half_ + 1);
  const std::string_view head = CutEnd(head_);
  const std::string_view tail = CutBeginning(std::string_view(tail_).substr(tail_.size() - wanted));
  std::string text(head);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text +=
      support::Format("[… {} bytes left out{} …]\n", total_ - head.size() - tail.size(), remedy);
  text += tail;
  return text;
}

std::string RedrawnLines::Add(std::string_view bytes) {
  std::string complete;
  while (!bytes.empty()) {
    // The same steps whatever the pieces are.
    const std::size_t size =
        std::min({bytes.find('\n'), bytes.size() - 1, kMaxRedrawn - line_.size()}) + 1;
    line_ += bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (line_.ends_with('\n')) complete += Finish();
    if (line_.size() > kMaxRedrawn) Shorten();
    if (line_.size() <= kMaxRedrawn) continue;
    // One long state. A carriage return may belong to the line's end.
    const bool has_return = line_.ends_with('\r');
    line_.resize(line_.size() - (has_return ? 1 : 0));
    complete += Finish();
    if (has_return) line_ = "\r";
  }
  return complete;
}

void RedrawnLines::Shorten() {
  const auto states = StatesOf(line_);
  if (states.size() < 2) return;
  left_out_ += states.size() - (first_.empty() ? 2 : 1);
  if (first_.empty()) first_ = states.front();
  line_.erase(0, static_cast<std::size_t>(states.back().data() - line_.data()));
}

std::string RedrawnLines::Finish() {
  std::string end;
  if (line_.ends_with('\n')) {
    line_.pop_back();
    const std::size_t size = line_.find_last_not_of('\r') + 1;
    end = size < line_.size() ? "\r\n" : "\n";
    line_.resize(size);
  }
  if (!first_.empty()) Shorten();
  std::string text;
  if (first_.empty()) {
    static const support::Regex carriage_return("\r", support::Regex::kLatin1);
    carriage_return.ReplaceAll(line_, R"(\\r)");
    text = line_ + end;
  } else {
    text = first_ + "\n";
    if (left_out_ > 0) text += support::Format("[… {} earlier states of this line]\n", left_out_);
    text.append(LastState(line_)).append(end.empty() ? "" : "\n");
  }
  *this = {};
  return text;
}

bool CommandOutput::OnOutput(Stream stream, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  const bool is_output = stream == Stream::kOutput;
  CappedOutput& capped = is_output ? standard_output_ : standard_error_;
  RedrawnLines& lines = is_output ? output_lines_ : error_lines_;
  capped.Add(is_exact_ ? bytes : lines.Add(bytes));
  both_.Add(bytes);
  ShowLastLine(bytes);
  return true;
}

/// The command may have printed something before its sender gets here.
void CommandOutput::OnStarted() {
  const std::scoped_lock lock(mutex_);
  if (recent_.find_first_not_of('\n') == std::string::npos) show_("running, no output yet");
}

void CommandOutput::ShowLastLine(std::string_view bytes) {
  recent_ += bytes.substr(bytes.size() - std::min(bytes.size(), kMaxShownLine));
  recent_.erase(0, recent_.size() - std::min(recent_.size(), kMaxShownLine));
  const auto text = std::string_view(recent_).substr(0, recent_.find_last_not_of('\n') + 1);
  if (text.empty()) return;
  const std::string_view last = text.substr(text.rfind('\n') + 1);
  std::string line = support::ToUtf8(support::WithoutCutBeginning(LastState(last)));
  // Tabs and colours are common.
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  show_(support::Printable(line));
}

CommandOutput::Streams CommandOutput::Finish(CutOutputs& outputs) {
  const std::scoped_lock lock(mutex_);
  standard_output_.Add(output_lines_.Finish());
  standard_error_.Add(error_lines_.Finish());
  std::string remedy;
  if (standard_output_.is_cut() || standard_error_.is_cut()) {
    remedy = support::Format("; read_process {\"id\":\"{}\"} returns them",
                             outputs.Keep(std::move(both_)));
  }
  return {support::ToUtf8(standard_output_.Text(remedy)),
          support::ToUtf8(standard_error_.Text(remedy))};
}

}  // namespace shell
