#include "mcp/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "support/log.h"

namespace mcp {
namespace {

void Trim(std::string& line) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto last = line.find_last_not_of(kBlanks);
  line.erase(last == std::string::npos ? 0 : last + 1);
  line.erase(0, std::min(line.find_first_not_of(kBlanks), line.size()));
}

}  // namespace

LineReader::Result LineReader::Next(std::string& line) {
  while (taken_ < filled_) {
    const std::string_view rest(chunk_.data() + taken_, filled_ - taken_);
    const auto newline = rest.find('\n');
    const std::string_view piece = rest.substr(0, newline);
    taken_ += piece.size();
    // One byte more, for the carriage return that may follow.
    if (partial_.size() + piece.size() > max_line_ + 1) {
      discarding_ = true;
      std::string().swap(partial_);
    }
    if (!discarding_) partial_ += piece;
    if (newline == std::string_view::npos) break;
    ++taken_;
    const Result result = Finish(line);
    if (result != Result::kNeedMore) return result;
  }
  return end_of_input_ ? Finish(line) : Result::kNeedMore;
}

/// The current line is complete. Returns kNeedMore when it is blank, kEndOfInput when it was the
/// last.
LineReader::Result LineReader::Finish(std::string& line) {
  const bool too_long = std::exchange(discarding_, false);
  line = std::exchange(partial_, {});
  const bool was_last = end_of_input_ && taken_ == filled_;
  Trim(line);
  if (too_long || line.size() > max_line_) {
    std::string().swap(line);
    return Result::kTooLong;
  }
  if (!line.empty()) return Result::kLine;
  return was_last ? Result::kEndOfInput : Result::kNeedMore;
}

void LineReader::Fill() {
  filled_ = 0;
  taken_ = 0;
  ssize_t count = 0;
  do {
    count = ::read(fd_, chunk_.data(), chunk_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (count < 0) support::LogError(std::string("cannot read input: ") + std::strerror(errno));
  if (count <= 0) end_of_input_ = true;
  filled_ = count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace mcp
