#include "mcp/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace mcp {
namespace {

/// The largest line that the sender writes itself.
constexpr std::size_t kMaxDirect = std::size_t{64} * 1024;

}  // namespace

LineWriter::LineWriter(int fd, support::WakePipe& closed, std::size_t max_pending)
    : fd_(fd), closed_wake_(closed), max_pending_(max_pending) {
  struct stat info = {};
  const int flags = ::fcntl(fd, F_GETFL);
  // The flags of a terminal are shared with other programs.
  const bool is_own = ::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  if (is_own && flags >= 0 && (flags & O_NONBLOCK) == 0 &&
      ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) {
    restore_flags_ = flags;
  }
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
  if (restore_flags_ >= 0) ::fcntl(fd_, F_SETFL, restore_flags_);
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
  closed_wake_.Wake();
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
    if (hurry_ || support::Clock::now() - last_taken_.load() >= timeout) return false;
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
