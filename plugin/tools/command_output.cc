#include "tools/command_output.h"

#include <algorithm>

#include "support/printable.h"
#include "support/utf8.h"

namespace tools {
namespace {

/// How much of a line is shown as progress, in bytes.
constexpr std::size_t kMaximumShownLine = 200;

}  // namespace

CommandOutput::CommandOutput(const std::string& mark, std::size_t maximum_bytes)
    : standard_output_(mark, MarkedStream::Header::kExpected, maximum_bytes),
      standard_error_(mark, MarkedStream::Header::kNone, maximum_bytes) {}

bool CommandOutput::OnOutput(guest::OutputStream stream, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  MarkedStream& marked =
      stream == guest::OutputStream::kStandardOutput ? standard_output_ : standard_error_;
  KeepLastLine(marked.Add(bytes));
  return !standard_output_.ended() || !standard_error_.ended();
}

void CommandOutput::OnQueued() {
  const std::scoped_lock lock(mutex_);
  queued_ = true;
}

void CommandOutput::Finish() {
  const std::scoped_lock lock(mutex_);
  standard_output_.Finish();
  standard_error_.Finish();
}

void CommandOutput::KeepLastLine(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool ends = bytes.back() == '\n';
  while (!bytes.empty() && bytes.back() == '\n') bytes.remove_suffix(1);
  const std::size_t newline = bytes.rfind('\n');
  if (newline != std::string_view::npos) bytes.remove_prefix(newline + 1);
  if (!bytes.empty()) {
    if (line_ended_ || newline != std::string_view::npos) last_line_.clear();
    last_line_ +=
        bytes.substr(0, kMaximumShownLine - std::min(last_line_.size(), kMaximumShownLine));
  }
  line_ended_ = ends;
}

std::string CommandOutput::StandardOutput() const {
  const std::scoped_lock lock(mutex_);
  return support::ToUtf8(standard_output_.output().Text());
}

std::string CommandOutput::StandardError() const {
  const std::scoped_lock lock(mutex_);
  return support::ToUtf8(standard_error_.output().Text());
}

std::optional<long> CommandOutput::process_group() const {
  const std::scoped_lock lock(mutex_);
  return standard_output_.process_group();
}

bool CommandOutput::shell_missing() const {
  const std::scoped_lock lock(mutex_);
  return standard_output_.shell_missing();
}

std::string CommandOutput::Describe() const {
  const std::scoped_lock lock(mutex_);
  if (!standard_output_.process_group()) {
    return queued_ ? "waiting for its turn: the guest's sshd allows no further channel now"
                   : "waiting for the guest to start the command";
  }
  if (last_line_.empty()) return "running, no output yet";
  std::string line = support::ToUtf8(last_line_);
  // Tabs and colours are usual; what else could drive a terminal is shown.
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return support::Printable(line);
}

}  // namespace tools
