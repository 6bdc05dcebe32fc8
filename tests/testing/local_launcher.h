// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shell/process.h"

namespace testing_support {

/// Starts processes on this machine as sshd does for a user with bash as login shell: each in a
/// session of its own, with only its three pipes, and with its input closed once it has exited. The
/// destructor closes all channels and waits for the processes. Thread-safe.
class LocalLauncher : public shell::Launcher {
 public:
  struct Options {
    std::vector<std::string> environment;
    std::string posix_shell = "/bin/sh";  ///< in place of /bin/sh
    std::size_t piece_size = 64 * 1024;   ///< of output
  };
  explicit LocalLauncher(Options options) : options_(std::move(options)) {}
  ~LocalLauncher() override;
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override;

  /// Ends all channels as a lost connection does.
  void BreakConnection();

  [[nodiscard]] std::size_t started() const;

  /// The process ids of all that were started, which are those of their sessions.
  [[nodiscard]] std::vector<pid_t> sessions() const;

 private:
  class Channel;

  Options options_;
  mutable std::mutex mutex_;  // of what follows
  std::vector<std::shared_ptr<Channel>> channels_;
  std::vector<std::thread> threads_;
};

}  // namespace testing_support
