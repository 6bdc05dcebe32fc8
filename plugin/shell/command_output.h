#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "shell/output_log.h"
#include "shell/process.h"

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

/// The output of a command, capped, and its progress. Thread-safe.
class CommandOutput final : public OutputSink {
 public:
  /// `show` is called for each change, with the last line of output, or what is waited for: one
  /// printable line. It must be quick.
  CommandOutput(std::size_t maximum_bytes, std::function<void(std::string)> show)
      : show_(std::move(show)), standard_output_(maximum_bytes), standard_error_(maximum_bytes) {
    show_("waiting for the guest to start the command");
  }

  bool OnOutput(Stream stream, std::string_view bytes) override;
  void OnQueued() override { show_("waiting for its turn: too many commands are running"); }
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

  const std::function<void(std::string)> show_;
  std::mutex mutex_;  // of what follows
  CappedOutput standard_output_;
  CappedOutput standard_error_;
  OutputLog both_{CutOutputs::kMaxOutput};
  std::string recent_;  ///< its last bytes
};

}  // namespace shell
