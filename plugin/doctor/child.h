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

namespace doctor {

/// A program that is spoken to line by line. No function waits beyond its context's deadline:
/// support::Stopped. One thread.
class Child {
 public:
  /// Throws support::CallError when the program cannot be started.
  explicit Child(const std::vector<std::string>& command);

  /// Kills the program if it still runs. A plugin whose limactl is killed sees the end of its
  /// input.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Writes at most 16 KiB before the program reads: what a pipe holds. If the program no longer
  /// reads, ReadLine returns nothing. SIGPIPE must be ignored.
  void Write(std::string_view text);

  /// Ends its standard input.
  void CloseInput() { input_.Close(); }

  /// Returns the next line of standard output without its end; nothing at the end of the output.
  std::optional<std::string> ReadLine(const support::Context& context);

  /// Ends its input, discards its output and waits until it exits. Returns the exit code, or 128
  /// and the number of the signal that killed it.
  int Finish(const support::Context& context);

  /// The last 2 KiB of its standard error.
  [[nodiscard]] std::string ErrorText() const;

 private:
  pid_t pid_ = -1;
  int exit_code_ = 0;
  support::FileDescriptor input_;
  support::FileDescriptor output_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> error_;  ///< a file without a name
  std::string received_;
};

}  // namespace doctor
