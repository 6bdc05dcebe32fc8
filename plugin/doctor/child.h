#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/context.h"
#include "support/file_descriptor.h"

namespace doctor {

/// Bytes of one line of a program's standard output; the answer to tools/list has some 60,000.
inline constexpr std::size_t kMaximumChildLine = std::size_t{4} << 20;

/// Bytes that are kept of what a program wrote last to its standard error.
inline constexpr std::size_t kKeptErrorText = 2048;

/// A program that is started with pipes on its three standard streams. No operation goes on beyond
/// the deadline of its context: support::Stopped. One thread. SIGPIPE must be ignored.
class Child {
 public:
  /// Throws support::CallError that names the program when it cannot be started.
  explicit Child(const std::vector<std::string>& command);

  /// Kills it if it still runs (a plugin whose limactl dies sees that as the end of its input).
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False when the program reads no more.
  [[nodiscard]] bool Write(std::string_view text, const support::Context& context);

  /// The end of its standard input.
  void CloseInput() { input_.Close(); }

  /// The next line of its standard output, without its end; empty optional at the end of the
  /// output. Throws support::CallError for a line above kMaximumChildLine.
  std::optional<std::string> ReadLine(const support::Context& context);

  /// Closes its input, reads its output to the end, and waits for the program. Returns the exit
  /// code, 128 and the number where a signal ended it.
  int Finish(const support::Context& context);

  /// What it wrote last to standard error, on one line.
  [[nodiscard]] std::string LastWords() const;

 private:
  /// Waits until there is something to read, or one of `input_events` is true of its standard
  /// input, or a second has passed; reads what there is.
  void Pump(short input_events, const support::Context& context);

  pid_t pid_ = -1;
  support::FileDescriptor input_;
  support::FileDescriptor output_;
  support::FileDescriptor error_;
  std::string received_;
  std::string error_text_;
};

}  // namespace doctor
