#pragma once

namespace mcp {

/// A pipe that makes a poll() return. Set once, it stays readable.
class WakePipe {
 public:
  /// Throws std::system_error when the process is out of file descriptors.
  WakePipe();
  ~WakePipe();
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  /// Any thread; also a signal handler.
  void Set() noexcept;

  [[nodiscard]] int read_fd() const { return fds_[0]; }

 private:
  int fds_[2] = {-1, -1};
};

}  // namespace mcp
