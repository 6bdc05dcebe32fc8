#include "tools/marked_stream.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tools {
namespace {

/// The longest header rest that is waited for: a blank, a process id and the note.
constexpr std::size_t kMaximumHeaderRest = 40;

constexpr std::string_view kNoShell = " no-shell";

/// How many of the last bytes may be the beginning of `mark`.
std::size_t PossibleBeginning(std::string_view bytes, std::string_view mark) {
  for (std::size_t length = std::min(bytes.size(), mark.size() - 1); length > 0; --length) {
    if (bytes.ends_with(mark.substr(0, length))) return length;
  }
  return 0;
}

std::optional<long> ParseProcessGroup(std::string_view rest) {
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  long value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  // 1 and below mean something else to kill(1).
  if (error != std::errc() || end != rest.data() + rest.size() || value <= 1) return std::nullopt;
  return value;
}

}  // namespace

MarkedStream::MarkedStream(std::string mark, Header header, std::size_t maximum_bytes)
    : mark_(std::move(mark)),
      state_(header == Header::kExpected ? State::kBeforeHeader : State::kOutput),
      output_(maximum_bytes) {}

std::string_view MarkedStream::Add(std::string_view bytes) {
  own_.clear();
  if (held_.empty()) {
    Scan(bytes);
  } else {
    std::string joined = std::exchange(held_, {});
    joined += bytes;
    Scan(joined);
  }
  return own_;
}

void MarkedStream::Scan(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::kEnded) {
    if (state_ == State::kInHeader) {
      // Not beyond, or a line that is none would depend on where the pieces end.
      const std::size_t end = bytes.substr(0, kMaximumHeaderRest).find('\n');
      if (end == std::string_view::npos && bytes.size() < kMaximumHeaderRest) {
        held_ = bytes;
        return;
      }
      std::string_view rest = bytes.substr(0, end == std::string_view::npos ? 0 : end);
      shell_missing_ = rest.ends_with(kNoShell);
      if (shell_missing_) rest.remove_suffix(kNoShell.size());
      process_group_ = ParseProcessGroup(rest);
      bytes.remove_prefix(end == std::string_view::npos ? 0 : end + 1);
      state_ = State::kOutput;
      continue;
    }
    const std::size_t at = bytes.find(mark_);
    if (at == std::string_view::npos) {
      const std::size_t held = PossibleBeginning(bytes, mark_);
      Keep(bytes.substr(0, bytes.size() - held));
      held_ = bytes.substr(bytes.size() - held);
      return;
    }
    Keep(bytes.substr(0, at));
    bytes.remove_prefix(at + mark_.size());
    state_ = state_ == State::kBeforeHeader ? State::kInHeader : State::kEnded;
  }
}

void MarkedStream::Keep(std::string_view bytes) {
  own_ += bytes;
  output_.Add(bytes);
}

void MarkedStream::Finish() {
  if (state_ == State::kInHeader || state_ == State::kEnded) return;
  output_.Add(std::exchange(held_, {}));
}

}  // namespace tools
