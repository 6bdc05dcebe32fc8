#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/context.h"
#include "support/file_descriptor.h"

namespace support {

/// A child program that reads and writes lines. At its context's deadline, each function throws
/// Stopped. One thread.
class Child {
 public:
  /// Throws CallError when the program cannot be started.
  explicit Child(const std::vector<std::string>& command);

  /// Kills the program if it still runs. If that is limactl, its plugin sees the end of its input.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Write at most 16 KiB, a pipe's capacity, before the program reads. If the program no longer
  /// reads, ReadLine returns nullopt. The caller must ignore SIGPIPE.
  void Write(std::string_view text);

  /// Closes its standard input.
  void CloseInput() { input_.Close(); }

  /// Returns the next line of standard output without its line end; nullopt at the end of output.
  std::optional<std::string> ReadLine(const Context& context);

  /// Closes its input, discards its output and waits until it exits. Returns the exit code, or 128
  /// plus the number of the signal that killed it.
  int Finish(const Context& context);

  /// The last 2 KiB of its standard error.
  [[nodiscard]] std::string ErrorText() const;

 private:
  pid_t pid_ = -1;
  int exit_code_ = 0;
  FileDescriptor input_;
  FileDescriptor output_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> error_;  ///< an unlinked temporary file
  std::string received_;
};

}  // namespace support
