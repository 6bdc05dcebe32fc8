// SPDX-License-Identifier: Apache-2.0
#include "shell/command_output.h"

#include <algorithm>

#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/utf8.h"

namespace shell {
namespace {

/// In bytes.
constexpr std::size_t kMaxShownLine = 200;
constexpr std::size_t kMaxFrame = std::size_t{16} * 1024;

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

std::string_view LastFrame(std::string_view line) {
  if (line.find_first_of("\r\x1B") == std::string_view::npos) return line;
  // "ESC [K" alone separates nothing: grep has it in each coloured match.
  static const support::Regex separator(
      R"((?:\r|\x1B\[(?:2K|[01]?G))(?:\r|\x1B\[(?:[0-2]?K|[01]?G))*)", support::Regex::kLatin1);
  std::string_view frame;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view found = separator.Find(line.substr(at));
    const auto end = static_cast<std::size_t>(found.data() - line.data());
    // Control characters alone show nothing.
    const bool shows =
        std::any_of(frame.begin(), frame.end(), [](char c) { return c < 0 || c >= ' '; });
    if (frame.empty() || shows) begin = at;
    if (end > at) frame = line.substr(begin, end - begin);
    at = end + found.size();
  }
  constexpr std::string_view kErase = "\x1B[K";
  if (frame.size() < line.size() && frame.ends_with(kErase)) frame.remove_suffix(kErase.size());
  return frame;
}

std::string LastFrames::Add(std::string_view bytes) {
  std::string complete;
  for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos;) {
    line_ += bytes.substr(0, end);
    const std::string_view frame = LastFrame(line_);
    const bool is_crlf = line_.ends_with('\r') && frame.size() + 1 == line_.size();
    complete.append(frame).append(is_crlf ? "\r\n" : "\n");
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
  line_ += bytes;
  if (line_.size() > kMaxFrame) {
    const std::string_view frame = LastFrame(line_);
    const bool is_over = frame.empty() || &frame.back() != &line_.back();
    line_ = std::string(frame) + (is_over ? "\r" : "");
    if (line_.size() > kMaxFrame) complete += std::exchange(line_, {});
  }
  return complete;
}

bool CommandOutput::OnOutput(Stream stream, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  const bool is_output = stream == Stream::kOutput;
  CappedOutput& capped = is_output ? standard_output_ : standard_error_;
  LastFrames& frames = is_output ? output_frames_ : error_frames_;
  capped.Add(is_exact_ ? bytes : frames.Add(bytes));
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
  std::string line = support::ToUtf8(support::WithoutCutBeginning(LastFrame(last)));
  // Tabs and colours are common.
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  show_(support::Printable(line));
}

CommandOutput::Streams CommandOutput::Finish(CutOutputs& outputs) {
  const std::scoped_lock lock(mutex_);
  standard_output_.Add(output_frames_.Finish());
  standard_error_.Add(error_frames_.Finish());
  std::string remedy;
  if (standard_output_.is_cut() || standard_error_.is_cut()) {
    remedy = support::Format("; read_process {\"id\":\"{}\"} returns them",
                             outputs.Keep(std::move(both_)));
  }
  return {support::ToUtf8(standard_output_.Text(remedy)),
          support::ToUtf8(standard_error_.Text(remedy))};
}

}  // namespace shell
