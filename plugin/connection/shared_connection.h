#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "support/context.h"
#include "tools/workspace.h"

namespace connection {

/// A connection to the guest with all that calls need of it.
struct OpenedConnection {
  tools::Workspace workspace;
  /// False once the line is known to be dead. Called from any thread.
  std::function<bool()> alive;
};

/// The one connection that all calls share: opened in a thread of its own, and opened again by the
/// next call after it died or failed to come up. Thread-safe.
class SharedConnection final : public tools::WorkspaceSource {
 public:
  /// Makes one attempt; throws support::CallError when it fails. Called in one thread only; its
  /// context is stopped when the SharedConnection is destroyed.
  using Opener = std::function<OpenedConnection(const support::Context&)>;

  explicit SharedConnection(Opener open);
  ~SharedConnection() override;
  SharedConnection(const SharedConnection&) = delete;
  SharedConnection& operator=(const SharedConnection&) = delete;

  /// Begins to connect without waiting. A failure is logged; the next Acquire tries again.
  void ConnectInBackground();

  /// See WorkspaceSource. An attempt that began before this call and fails is not this call's
  /// failure: a new one is made, because what was wrong may have been mended in between.
  tools::Workspace Acquire(const support::Context& context,
                           mcp::ProgressReporter& progress) override;

 private:
  void ConnectWhenWanted();
  [[nodiscard]] bool IsAlive() const;

  Opener open_;
  support::StopSource stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<OpenedConnection> current_;
  std::exception_ptr last_failure_;
  std::uint64_t attempts_started_ = 0;
  std::uint64_t attempts_finished_ = 0;
  bool wanted_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace connection
