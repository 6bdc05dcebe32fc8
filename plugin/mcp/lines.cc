#include "mcp/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/log.h"

namespace mcp {
namespace {

/// The largest line that the sender writes itself.
constexpr std::size_t kMaxDirect = std::size_t{64} * 1024;

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
  if (count < 0) support::LogError(std::string("cannot read input: ") + std::strerror(errno));
  if (count <= 0) end_of_input_ = true;
}

LineWriter::LineWriter(int fd, std::size_t max_pending) : fd_(fd), max_pending_(max_pending) {
  struct stat info = {};
  const int flags = ::fcntl(fd, F_GETFL);
  // The flags of a terminal are shared with other programs.
  const bool is_own = ::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  if (is_own) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  drain_ = std::thread([this] { Drain(); });
}

LineWriter::~LineWriter() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  stop_wake_.Wake();
  drain_.join();
}

bool LineWriter::WriteSome(std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
      last_taken_ = support::Clock::now();
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
  return true;
}

void LineWriter::Close() {
  closed_ = true;
  pending_.clear();
  pending_bytes_ = 0;
  changed_.notify_all();
}

void LineWriter::Write(std::string line) {
  line += '\n';
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  if (pending_.empty()) {
    std::string_view rest = line;
    if (line.size() <= kMaxDirect && !WriteSome(rest)) return Close();
    if (rest.empty()) return;
    line.erase(0, line.size() - rest.size());
    last_taken_ = support::Clock::now();
  }
  pending_bytes_ += line.size();
  pending_.push_back(std::move(line));
  changed_.notify_all();
}

bool LineWriter::HasRoom() const {
  const std::scoped_lock lock(mutex_);
  return pending_bytes_ < max_pending_;
}

void LineWriter::WaitForRoom() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return give_up_ || closed_ || pending_bytes_ < max_pending_; });
}

void LineWriter::GiveUpWaiting() {
  const std::scoped_lock lock(mutex_);
  give_up_ = true;
  changed_.notify_all();
}

bool LineWriter::Flush(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, timeout, [this] { return closed_ || pending_.empty(); })) {
    if (support::Clock::now() - last_taken_.load() >= timeout) return false;
  }
  return !closed_;
}

/// The thread: writes pending lines in order.
void LineWriter::Drain() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    if (stopping_) return;
    // Stays valid without the lock: only this thread removes lines, and a deque does not move them.
    const std::string& first = pending_.front();
    std::string_view rest = first;
    lock.unlock();
    bool is_open = WriteSome(rest);
    while (is_open && !rest.empty() && !stopping_) {
      std::array<pollfd, 2> fds = {{{.fd = fd_, .events = POLLOUT, .revents = 0},
                                    {.fd = stop_wake_.fd(), .events = POLLIN, .revents = 0}}};
      ::poll(fds.data(), fds.size(), -1);
      is_open = WriteSome(rest);
    }
    lock.lock();
    if (!is_open) {
      Close();
    } else if (rest.empty()) {
      pending_bytes_ -= first.size();
      pending_.pop_front();
      changed_.notify_all();
    }
  }
}

}  // namespace mcp
