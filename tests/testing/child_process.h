// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/file_descriptor.h"

namespace testing_support {

using support::FileDescriptor;

/// Finds a program on PATH, or where sshd is; empty if there is none. A path stays as it is.
std::string FindProgram(const std::string& name);

/// A program with pipes on its three standard streams. The destructor kills it (SIGKILL). One
/// thread at a time.
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> arguments;  ///< the program, found on PATH, and its arguments
    /// Added to this process's environment; an empty optional removes the variable.
    std::map<std::string, std::optional<std::string>> environment = {};
    std::string working_directory = {};  ///< empty: this process's own
  };

  /// Throws std::system_error when the program cannot be started.
  explicit ChildProcess(const Options& options);
  ChildProcess(ChildProcess&&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  FileDescriptor& standard_input() { return input_; }
  FileDescriptor& standard_output() { return output_; }
  FileDescriptor& standard_error() { return error_; }

  void Signal(int number) const;

  /// Waits for its exit; returns waitpid's status, or nothing after `timeout`.
  std::optional<int> Wait(std::chrono::milliseconds timeout);

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor error_;
};

struct ProcessResult {
  int exit_code = 0;  ///< 128+N after signal N
  std::string output;
  std::string error;  ///< the last 64 KiB
};

/// Runs a program with `input` on its standard input. Throws std::runtime_error after `timeout`.
ProcessResult RunProcess(const ChildProcess::Options& options, const std::string& input = "",
                         std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace testing_support
