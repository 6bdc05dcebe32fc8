#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "shell/output_log.h"
#include "shell/process.h"
#include "shell/report_splitter.h"
#include "shell/resident_script.h"

namespace shell {

/// Guards all long-running processes, and is notified of every change of one.
struct Monitor {
  std::mutex mutex;
  std::condition_variable changed;
};

/// One long-running process on a channel of its own (ProcessShell in resident_script.h). It is lost
/// with its connection.
class LongProcess final : public ProcessEvents, public std::enable_shared_from_this<LongProcess> {
 public:
  static constexpr std::size_t kMaximumOutput = std::size_t{1} << 20;
  /// Input that waits for the process to read.
  static constexpr std::size_t kMaximumInput = std::size_t{1} << 20;

  LongProcess(std::shared_ptr<Monitor> monitor, std::size_t needed_channels);

  /// Starts it without waiting. Once, without the monitor's lock.
  void Launch(const LoginCommand& command, Launcher& launcher);

  // With the monitor's lock.

  /// Closes its channel: whatever runs in it is stopped, TERM and a second later KILL. Must be
  /// called unless it has ended.
  void Close();

  /// It had to wait for a channel.
  [[nodiscard]] bool was_queued() const { return queued_; }
  [[nodiscard]] bool started() const { return ready_; }
  [[nodiscard]] bool ended() const { return ended_; }

  /// 128+N after signal N. Empty if it is unknown.
  [[nodiscard]] std::optional<int> exit_status() const { return exit_status_; }
  /// Why it ended without an exit status.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] const OutputLog& output() const { return output_; }

  /// Throws why it ended before it was started.
  [[noreturn]] void ThrowStartFailure() const;

  [[nodiscard]] std::size_t waiting_input() const { return input_.size(); }
  [[nodiscard]] bool input_is_taken() const { return input_.empty() && !input_is_under_way_; }
  [[nodiscard]] bool input_ended() const { return input_ends_; }

  // Only between its start and its end.
  void AddInput(std::string_view bytes);
  void EndInput();
  /// `name` is without "SIG".
  void Signal(std::string_view name);

  void OnOutput(Stream stream, std::string_view bytes) override;
  void OnQueued() override;
  [[nodiscard]] std::size_t needed_channels() const override { return needed_channels_; }
  void OnEnd(const ProcessEnd& end) override;

 private:
  void Take(std::string_view own);
  void Report(std::string_view words);
  void End(std::optional<int> status, const std::string& problem);
  /// Sends what may be sent now.
  void Pump();

  const std::shared_ptr<Monitor> monitor_;
  const std::size_t needed_channels_;
  const std::string marker_ = MakeEndMarker();
  std::unique_ptr<Process> process_;  // null once it has ended
  ReportSplitter splitter_;
  OutputLog output_{kMaximumOutput};
  std::string early_error_;
  std::string input_;
  bool input_is_under_way_ = false;
  bool input_ends_ = false;
  bool input_end_is_sent_ = false;
  bool queued_ = false;
  bool ready_ = false;
  bool ended_ = false;
  bool connection_lost_ = false;
  bool may_have_run_ = false;  // if the connection was lost
  std::optional<int> exit_status_;
  std::string problem_;
};

}  // namespace shell
