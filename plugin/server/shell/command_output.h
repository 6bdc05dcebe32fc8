// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "shell/output_log.h"
#include "shell/request.h"

namespace shell {

/// Keeps the first and the last half of `maximum_bytes` of a stream. Uses at most twice that
/// memory. One thread at a time.
class CappedOutput {
 public:
  explicit CappedOutput(std::size_t maximum_bytes) : half_(maximum_bytes / 2) {}

  void Add(std::string_view bytes);

  /// The kept bytes. If bytes were left out, one line "[… N bytes left out …]" is between the
  /// parts, which are cut at a line end if there is one in their half next to the gap, else between
  /// two UTF-8 characters. `remedy`: how to get them, after "left out".
  [[nodiscard]] std::string Text(std::string_view remedy = {}) const;

  [[nodiscard]] bool is_cut() const { return total_ > 2 * half_; }

 private:
  std::size_t half_;
  std::uint64_t total_ = 0;  ///< bytes received
  std::string head_;
  std::string tail_;  ///< the bytes after `head_`; its beginning is cut off now and then
};

/// Makes text of lines that a terminal would redraw: carriage returns, and sequences that erase the
/// line, separate its states. Of a long line the first and the last state are kept, and how many
/// were between; in a short one a carriage return becomes `\r`. Line ends may be CRLF. One thread
/// at a time.
class RedrawnLines {
 public:
  /// Returns the lines that are complete, and the beginning of one with a long state.
  std::string Add(std::string_view bytes);
  /// Returns the rest.
  std::string Finish();

 private:
  void Shorten();

  std::string line_;          ///< not complete; its last state if there is a `first_`
  std::string first_;         ///< the first state of a long line
  std::size_t left_out_ = 0;  ///< states after that
};

/// The output of a command, capped, and its progress. Thread-safe.
class CommandOutput final : public OutputSink {
 public:
  /// `show` is called for each change, with the last line of output, or what is waited for: one
  /// printable line. It must be quick. `is_exact`: without RedrawnLines.
  CommandOutput(std::size_t maximum_bytes, bool is_exact, std::function<void(std::string)> show)
      : is_exact_(is_exact),
        show_(std::move(show)),
        standard_output_(maximum_bytes),
        standard_error_(maximum_bytes) {
    show_("waiting for the guest to start the command");
  }

  bool OnOutput(Stream stream, std::string_view bytes) override;
  void OnQueued(const std::string& running) override { show_("waiting: " + running); }
  void OnStarted() override;

  /// Valid UTF-8.
  struct Streams {
    std::string output;
    std::string error;
  };
  /// Once the command has ended, and once. If a stream was cut, keeps both in `outputs`, in the
  /// order in which they came; the streams then name the id.
  Streams Finish(CutOutputs& outputs);

 private:
  void ShowLastLine(std::string_view bytes);

  const bool is_exact_;
  const std::function<void(std::string)> show_;
  std::mutex mutex_;  // of what follows
  CappedOutput standard_output_;
  CappedOutput standard_error_;
  RedrawnLines output_lines_;
  RedrawnLines error_lines_;
  OutputLog both_{CutOutputs::kMaxOutput};
  std::string recent_;  ///< its last bytes
};

}  // namespace shell
