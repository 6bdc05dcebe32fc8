// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/context.h"
#include "support/environment.h"
#include "support/file_descriptor.h"

namespace support {

/// A child's standard streams: descriptors, which the caller still owns, or -1 for /dev/null.
struct SpawnStreams {
  int input = -1;
  int output = -1;
  int error = -1;
  int inherited = -1;          ///< one more descriptor, which the child has under the same number
  bool own_session = false;    ///< the child keeps running when this program exits; else the
                               ///< terminal's signals reach it too
  std::string directory = {};  ///< where it starts; empty: where this program is
};

/// Starts `command`: a program (found on this program's PATH unless its name has a slash) and its
/// arguments. The child gets `environment`, but no other descriptors and no ignored or blocked
/// signals. Returns the process id; the caller must wait for it. Throws std::system_error.
pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            const Environment& environment = OwnEnvironment());

/// A child program, its input and its output. At its context's deadline, each function throws
/// Stopped. One thread. The caller must ignore SIGPIPE.
class Child {
 public:
  /// For SpawnStreams: a pipe to this object. Standard error is always one.
  static constexpr int kPipe = -2;

  /// Throws Error when the program cannot be started.
  explicit Child(const std::vector<std::string>& command,
                 SpawnStreams streams = {.input = kPipe, .output = kPipe},
                 const Environment& environment = OwnEnvironment());

  /// Kills the program if it still runs. If that is limactl, its plugin sees the end of its input.
  ~Child();

  /// Returns false if the program no longer reads. Keeps what the program prints meanwhile.
  bool Write(std::string_view text, const Context& context = {});

  /// Closes its standard input.
  void CloseInput() { input_.Close(); }

  /// Returns the next line of standard output without its line end; nullopt at the end of output.
  std::optional<std::string> ReadLine(const Context& context);

  /// Passes on the standard output until it ends or `on_output` returns false.
  void Read(const std::function<bool(std::string_view)>& on_output, const Context& context = {});

  /// Closes its input, discards its output and waits until it exits. Returns the exit code, or 128
  /// plus the number of the signal that killed it.
  int Finish(const Context& context = {});

  /// As Finish returned it.
  [[nodiscard]] int exit_code() const { return exit_code_; }

  /// The last 64 KiB of its standard error.
  [[nodiscard]] const std::string& error() const { return error_text_; }

 private:
  /// Reads what there is, after at most `milliseconds`; `for_input`: also waits until the program
  /// reads. Returns false if nothing happened.
  bool Poll(bool for_input, int milliseconds);
  /// Returns false at the end of the output.
  bool WaitForOutput(const Context& context);

  pid_t pid_ = -1;
  int exit_code_ = 0;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor error_;
  std::string received_;
  std::string error_text_;
};

}  // namespace support
