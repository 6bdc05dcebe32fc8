// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "connection/instance_opener.h"
#include "support/context.h"
#include "tools/workspace.h"

namespace connection {

/// The connection that all calls share. A thread of its own opens it; the next call reopens it
/// after it was lost or failed to open. Thread-safe.
class SharedConnection final : public tools::WorkspaceSource {
 public:
  /// Opens a connection in bounded time; throws support::Error. Never called twice at once;
  /// its context is stopped by the destructor.
  using Opener = std::function<tools::Workspace(const support::Context&, const ReportStatus&)>;

  explicit SharedConnection(Opener open) : open_(std::move(open)) {}
  ~SharedConnection() override;

  /// Connects without waiting. A failure is logged; the next Acquire tries again.
  void ConnectInBackground();
  [[nodiscard]] bool IsConnecting();

  /// See WorkspaceSource. If the context times out, throws support::Error with the status, and
  /// the attempt continues for the next call. If an attempt that began before this call fails,
  /// makes a new one, since the cause may be gone.
  tools::Workspace Acquire(const support::Context& context,
                           mcp::ProgressReporter& progress) override;

 private:
  static constexpr const char* kConnecting = "connecting to the guest";

  /// Starts an attempt unless one runs. The caller holds the lock.
  void Begin();
  /// One attempt, in the thread.
  void RunAttempt();
  [[nodiscard]] bool IsAlive() const { return current_ && current_->guest->alive(); }

  Opener open_;
  support::StopSource stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<tools::Workspace> current_;
  std::optional<std::string> last_failure_;
  std::uint64_t attempts_ = 0;  ///< finished
  bool connecting_ = false;
  std::string waiting_for_ = kConnecting;
  std::thread thread_;  ///< of the last attempt
};

}  // namespace connection
