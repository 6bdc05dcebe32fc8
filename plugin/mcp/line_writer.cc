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

void LineWriter::WriteSome() {
  const std::string& line = pending_.front();
  const ssize_t count = ::write(fd_, line.data() + written_, line.size() - written_);
  if (count >= 0) {
    written_ += static_cast<std::size_t>(count);
    last_taken_ = support::Clock::now();
    if (written_ < line.size()) return;
    pending_bytes_ -= line.size();
    pending_.pop_front();
    written_ = 0;
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    closed_ = true;
    pending_.clear();
    pending_bytes_ = 0;
    closed_wake_.Wake();
  }
}

void LineWriter::Write(std::string line) {
  line += '\n';
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  const bool writes_itself = pending_.empty() && line.size() <= kMaxDirect;
  if (pending_.empty()) last_taken_ = support::Clock::now();
  pending_bytes_ += line.size();
  pending_.push_back(std::move(line));
  if (writes_itself) WriteSome();
  if (!pending_.empty()) changed_.notify_all();  // otherwise nobody waits
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
    if (hurry_ || support::Clock::now() - last_taken_ >= timeout) return false;
  }
  return !closed_;
}

/// The thread: writes pending lines in order.
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
    WriteSome();
    changed_.notify_all();
  }
}

}  // namespace mcp
