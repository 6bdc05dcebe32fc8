#include "shell/command_output.h"

#include <algorithm>
#include <utility>

#include "support/printable.h"
#include "support/utf8.h"

namespace shell {
namespace {

/// In bytes.
constexpr std::size_t kMaxShownLine = 200;

}  // namespace

bool CommandOutput::OnOutput(Stream stream, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  (stream == Stream::kOutput ? standard_output_ : standard_error_).Add(bytes);
  both_.Add(bytes);
  KeepLastLine(bytes);
  return true;
}

void CommandOutput::SetState(State state) {
  const std::scoped_lock lock(mutex_);
  state_ = state;
}

void CommandOutput::KeepLastLine(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool ends = bytes.back() == '\n';
  while (!bytes.empty() && bytes.back() == '\n') bytes.remove_suffix(1);
  const std::size_t newline = bytes.rfind('\n');
  if (newline != std::string_view::npos) bytes.remove_prefix(newline + 1);
  if (!bytes.empty()) {
    if (line_ended_ || newline != std::string_view::npos) last_line_.clear();
    last_line_ += bytes.substr(0, kMaxShownLine - std::min(last_line_.size(), kMaxShownLine));
  }
  line_ended_ = ends;
}

std::string CommandOutput::StandardOutput() const {
  const std::scoped_lock lock(mutex_);
  return support::ToUtf8(standard_output_.Text(remedy_));
}

std::string CommandOutput::StandardError() const {
  const std::scoped_lock lock(mutex_);
  return support::ToUtf8(standard_error_.Text(remedy_));
}

void CommandOutput::KeepIfCut(CutOutputs& outputs) {
  const std::scoped_lock lock(mutex_);
  if (!standard_output_.is_cut() && !standard_error_.is_cut()) return;
  remedy_ = "; read_process {\"id\":\"" + outputs.Keep(std::move(both_)) + "\"} returns them";
}

std::string CommandOutput::Describe() const {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::kQueued) {
    return "waiting for its turn: too many commands are running";
  }
  if (state_ == State::kStarting) return "waiting for the guest to start the command";
  if (last_line_.empty()) return "running, no output yet";
  std::string line = support::ToUtf8(last_line_);
  // Tabs and colours are common.
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return support::Printable(line);
}

}  // namespace shell
