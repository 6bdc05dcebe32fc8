#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "shell/capped_output.h"
#include "shell/cut_outputs.h"
#include "shell/output_log.h"
#include "shell/run_end.h"

namespace shell {

/// The output of a command, capped, and its last line. Thread-safe.
class CommandOutput final : public OutputSink {
 public:
  explicit CommandOutput(std::size_t maximum_bytes)
      : standard_output_(maximum_bytes), standard_error_(maximum_bytes) {}

  bool OnOutput(Stream stream, std::string_view bytes) override;
  void OnQueued() override { SetState(State::kQueued); }
  void OnStarted() override { SetState(State::kRunning); }

  // Valid UTF-8.
  [[nodiscard]] std::string StandardOutput() const;
  [[nodiscard]] std::string StandardError() const;

  /// Once the command has ended: if a stream was cut, keeps both in `outputs`, in the order in
  /// which they came; the streams then name the id.
  void KeepIfCut(CutOutputs& outputs);

  /// For a progress notification: the last line of output, or what is waited for. One printable
  /// line.
  [[nodiscard]] std::string Describe() const;

 private:
  enum class State { kStarting, kQueued, kRunning };
  void SetState(State state);
  void KeepLastLine(std::string_view bytes);

  mutable std::mutex mutex_;
  State state_ = State::kStarting;
  CappedOutput standard_output_;
  CappedOutput standard_error_;
  OutputLog both_{CutOutputs::kMaxOutput};
  std::string remedy_;
  std::string last_line_;
  bool line_ended_ = false;
};

}  // namespace shell
