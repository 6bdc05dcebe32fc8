#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "connection/limactl_start.h"
#include "support/context.h"
#include "tools/workspace.h"

namespace connection {

/// The connection that all calls share. Its own thread opens it; the next call reopens it after it
/// was lost or failed to open. Thread-safe.
class SharedConnection final : public tools::WorkspaceSource {
 public:
  /// Opens a connection in bounded time; throws support::CallError. Called in one thread only; its
  /// context is stopped by the destructor.
  using Opener = std::function<tools::Workspace(const support::Context&, const ReportStatus&)>;

  explicit SharedConnection(Opener open);
  ~SharedConnection() override;

  /// Connects without waiting. A failure is logged; the next Acquire tries again.
  void ConnectInBackground();

  /// See WorkspaceSource. If the context times out, throws support::CallError with the status, and
  /// the attempt continues for the next call. If an attempt that began before this call fails,
  /// makes a new one, since the cause may be gone.
  tools::Workspace Acquire(const support::Context& context,
                           mcp::ProgressReporter& progress) override;

 private:
  static constexpr const char* kConnecting = "connecting to the guest";

  /// Requests an attempt from the thread. The caller holds the lock.
  void Want();
  void ConnectWhenWanted();
  [[nodiscard]] bool IsAlive() const;

  Opener open_;
  support::StopSource stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<tools::Workspace> current_;
  std::optional<std::string> last_failure_;
  std::uint64_t attempts_started_ = 0;
  std::uint64_t attempts_finished_ = 0;
  std::string waiting_for_ = kConnecting;
  bool wanted_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace connection
