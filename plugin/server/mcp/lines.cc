// SPDX-License-Identifier: Apache-2.0
#include "mcp/lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/format.h"
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
  while (true) {
    const std::size_t newline = received_.find('\n', searched_);
    if (newline == std::string::npos) {
      // One byte more, for the carriage return that may follow.
      discarding_ = discarding_ || received_.size() > max_line_ + 1;
      if (discarding_) std::string().swap(received_);
      searched_ = received_.size();
      if (!end_of_input_) return Result::kNeedMore;
      if (received_.empty() && !discarding_) return Result::kEndOfInput;
    }
    std::string rest = newline == std::string::npos ? "" : received_.substr(newline + 1);
    received_.resize(std::min(newline, received_.size()));
    line = std::exchange(received_, std::move(rest));
    searched_ = 0;
    Trim(line);
    if (std::exchange(discarding_, false) || line.size() > max_line_) {
      std::string().swap(line);
      return Result::kTooLong;
    }
    if (!line.empty()) return Result::kLine;
  }
}

void LineReader::Fill() {
  constexpr std::size_t kChunk = std::size_t{64} * 1024;
  const std::size_t before = received_.size();
  received_.resize(before + kChunk);
  ssize_t count = 0;
  do {
    count = ::read(fd_, received_.data() + before, kChunk);
  } while (count < 0 && errno == EINTR);
  received_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (count < 0) support::LogError(support::Format("cannot read input: {}", std::strerror(errno)));
  if (count <= 0) end_of_input_ = true;
}

LineWriter::LineWriter(int fd, support::WakePipe& wake, std::size_t max_pending)
    : fd_(fd), wake_(wake), max_pending_(max_pending) {
  struct stat info = {};
  const int flags = ::fcntl(fd, F_GETFL);
  // The flags of a terminal are shared with other programs.
  const bool is_own = ::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  if (is_own) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void LineWriter::WritePending() {
  while (!pending_.empty()) {
    const std::string& line = pending_.front();
    const ssize_t count = ::write(fd_, line.data() + written_, line.size() - written_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count < 0) {
      closed_ = true;
      pending_.clear();
      pending_bytes_ = 0;
      break;
    }
    written_ += static_cast<std::size_t>(count);
    pending_bytes_ -= static_cast<std::size_t>(count);
    if (written_ < line.size()) break;  // a pipe is full now
    pending_.pop_front();
    written_ = 0;
  }
  room_.notify_all();
}

void LineWriter::Write(std::string line) {
  line += '\n';
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  pending_bytes_ += line.size();
  pending_.push_back(std::move(line));
  if (pending_.size() > 1) return;
  WritePending();
  if (!pending_.empty()) wake_.Wake();
}

pollfd LineWriter::Polled() const {
  const std::scoped_lock lock(mutex_);
  const int events = pending_.empty() ? POLLHUP : POLLOUT;
  return {.fd = fd_, .events = static_cast<short>(events), .revents = 0};
}

void LineWriter::WriteMore() {
  const std::scoped_lock lock(mutex_);
  WritePending();
}

bool LineWriter::HasRoom() const {
  const std::scoped_lock lock(mutex_);
  return pending_bytes_ < max_pending_;
}

void LineWriter::WaitForRoom(const support::Context& context) {
  std::unique_lock lock(mutex_);
  support::WaitUntil(room_, lock, context,
                     [this] { return closed_ || pending_bytes_ < max_pending_; });
}

bool LineWriter::Flush(std::chrono::milliseconds timeout) {
  while (true) {
    WriteMore();
    pollfd polled = Polled();
    if (polled.events != POLLOUT) break;
    if (::poll(&polled, 1, static_cast<int>(timeout.count())) == 0) return false;
  }
  const std::scoped_lock lock(mutex_);
  return !closed_;
}

}  // namespace mcp
