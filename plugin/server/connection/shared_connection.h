// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
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

/// How long connecting is retried, from the first failure on.
struct RetryTimes {
  using Duration = support::Clock::duration;

  /// A booting VM has its files long before sshd listens, and a busy sshd drops connections
  /// (MaxStartups).
  Duration lost = std::chrono::seconds(45);

  /// Replaces `lost` if the last connection failed less than `memory` ago, so that calls to a dead
  /// guest fail sooner.
  Duration after_failure = std::chrono::seconds(5);
  Duration memory = std::chrono::minutes(1);

  /// An instance looks broken briefly while it starts or stops.
  Duration broken = std::chrono::seconds(5);

  /// A closed instance boots. Its first boot installs packages.
  Duration boot = std::chrono::minutes(10);

  /// Between attempts. Doubles each time; up to half of it is taken off at random. OpenSSH since
  /// 9.8 blocks an address that reconnects too fast (PerSourcePenalties).
  Duration first_pause = std::chrono::milliseconds(100);
  Duration max_pause = std::chrono::seconds(3);
};

/// Makes one attempt to connect in bounded time; throws support::Error.
using Opener = std::function<tools::Workspace(const support::Context&, const ReportStatus&)>;

/// Connects: attempts again after support::ConnectionLost, and if the instance looks broken or a
/// closed one boots. Throws the last attempt's error, or support::Stopped.
tools::Workspace OpenWithRetries(const Opener& open, const RetryTimes& times,
                                 const support::Context& context,
                                 const ReportStatus& report_status);

/// Connects only to the guest, with retries, which are logged. A closed guest gets the proxy.
std::shared_ptr<guest::Guest> ConnectGuestWithRetries(
    const std::filesystem::path& lima_home, const std::string& name,
    std::shared_ptr<network::Proxy> proxy = nullptr);

/// The connection that all calls share. A thread of its own opens it, with retries; the next call
/// reopens it after it was lost or failed to open. Thread-safe.
class SharedConnection final : public tools::WorkspaceSource {
 public:
  /// `open` is never called twice at once; its context is stopped by the destructor.
  explicit SharedConnection(Opener open, const RetryTimes& times = {})
      : open_(std::move(open)), times_(times) {}
  ~SharedConnection() override;

  /// Connects without waiting. A failure is logged; the next Acquire tries again.
  void ConnectInBackground();
  [[nodiscard]] bool IsConnecting();

  /// The present connection, if there is one.
  [[nodiscard]] std::optional<tools::Workspace> Current();

  /// See WorkspaceSource. If the context times out, throws support::Error with the status, and
  /// connecting continues for the next call.
  tools::Workspace Acquire(const support::Context& context,
                           mcp::ProgressReporter& progress) override;

 private:
  static constexpr const char* kConnecting = "connecting to the guest";

  /// Starts connecting unless that runs. The caller holds the lock.
  void Begin();
  /// In the thread.
  void Connect();
  [[nodiscard]] bool IsAlive() const { return current_ && current_->guest->alive(); }

  const Opener open_;
  const RetryTimes times_;
  std::optional<support::Clock::time_point> failed_at_;  ///< for the thread
  support::StopSource stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<tools::Workspace> current_;
  std::optional<std::string> last_failure_;
  std::uint64_t attempts_ = 0;  ///< to connect, finished
  bool connecting_ = false;
  std::string waiting_for_ = kConnecting;
  std::thread thread_;  ///< connects, or has
};

}  // namespace connection
