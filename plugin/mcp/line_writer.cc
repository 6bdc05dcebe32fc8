#include "mcp/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace mcp {
namespace {

/// The most that one write() is given. Also the most that a file or terminal, which cannot be
/// written without blocking, may hold up the others.
constexpr std::size_t kMaxWrite = std::size_t{256} * 1024;

}  // namespace

LineWriter::LineWriter(int fd, support::WakePipe& closed, std::size_t max_pending)
    : fd_(fd), closed_wake_(closed), max_pending_(max_pending) {
  struct stat info = {};
  if (::fstat(fd, &info) == 0) {
    is_socket_ = S_ISSOCK(info.st_mode);
    const int flags = ::fcntl(fd, F_GETFL);
    // Sockets have MSG_DONTWAIT. A terminal is shared with other programs and stays as it is.
    if (S_ISFIFO(info.st_mode) && flags >= 0 && (flags & O_NONBLOCK) == 0 &&
        ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) {
      restore_flags_ = flags;
    }
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

LineWriter::Progress LineWriter::WriteSome(std::string_view& rest) const {
  while (!rest.empty()) {
    const std::size_t size = std::min(rest.size(), kMaxWrite);
    const ssize_t count =
        is_socket_ ? ::send(fd_, rest.data(), size, MSG_DONTWAIT) : ::write(fd_, rest.data(), size);
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Progress::kWouldBlock;
    } else if (errno != EINTR) {
      return Progress::kClosed;
    }
  }
  return Progress::kDone;
}

void LineWriter::Close() {
  closed_ = true;
  pending_.clear();
  offset_ = 0;
  pending_bytes_ = 0;
  closed_wake_.Wake();
  changed_.notify_all();
}

void LineWriter::Write(std::string line) {
  line += '\n';
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  std::size_t written = 0;
  if (pending_.empty()) {
    std::string_view rest = line;
    const Progress progress = WriteSome(rest);
    if (progress == Progress::kDone) return;
    if (progress == Progress::kClosed) return Close();
    written = line.size() - rest.size();
    offset_ = written;
  }
  pending_bytes_ += line.size() - written;
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

bool LineWriter::Flush(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return closed_ || pending_.empty(); });
  return !closed_ && pending_.empty();
}

/// The thread: waits until the reader can take more, then writes what is pending.
void LineWriter::Drain() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    if (stopping_) return;
    lock.unlock();
    std::array<pollfd, 2> fds = {{{.fd = fd_, .events = POLLOUT, .revents = 0},
                                  {.fd = stop_wake_.fd(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), -1);
    lock.lock();
    if (stopping_ || pending_.empty()) continue;
    std::string_view rest = std::string_view(pending_.front()).substr(offset_);
    const std::size_t before = rest.size();
    const Progress progress = WriteSome(rest);
    pending_bytes_ -= before - rest.size();
    offset_ += before - rest.size();
    if (progress == Progress::kClosed) {
      Close();
    } else if (progress == Progress::kDone) {
      pending_.pop_front();
      offset_ = 0;
    }
    changed_.notify_all();
  }
}

}  // namespace mcp
