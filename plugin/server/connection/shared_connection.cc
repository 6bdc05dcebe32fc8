// SPDX-License-Identifier: Apache-2.0
#include "connection/shared_connection.h"

#include "mcp/tool.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"

namespace connection {

SharedConnection::~SharedConnection() {
  stop_.Stop(support::StopReason::kTerminated);
  if (thread_.joinable()) thread_.join();
}

void SharedConnection::ConnectInBackground() {
  const std::scoped_lock lock(mutex_);
  Begin();
}

bool SharedConnection::IsConnecting() {
  const std::scoped_lock lock(mutex_);
  return connecting_;
}

tools::Workspace SharedConnection::Acquire(const support::Context& context,
                                           mcp::ProgressReporter& progress) {
  std::unique_lock lock(mutex_);
  const std::uint64_t earlier_attempts = attempts_ + (connecting_ ? 1 : 0);
  while (!IsAlive()) {
    if (attempts_ > earlier_attempts) {
      if (last_failure_) throw support::Error(*last_failure_);
      throw support::ConnectionLost("the connection to the guest was lost as soon as it was opened",
                                    false);
    }
    const support::StopReason stopped = context.stop_reason();
    if (stopped == support::StopReason::kDeadline) {
      throw support::Error("the guest is not ready: {}. Nothing was done; call again later",
                           waiting_for_);
    }
    if (stopped != support::StopReason::kNone) throw support::Stopped(stopped);
    Begin();
    const std::uint64_t attempts = attempts_;
    const std::string waiting = waiting_for_;
    progress.SetStatus(waiting);
    support::WaitUntil(changed_, lock, context,
                       [&] { return attempts_ != attempts || waiting_for_ != waiting; });
    if (IsAlive()) progress.SetStatus("connected to the guest");
  }
  return *current_;
}

void SharedConnection::Begin() {
  if (connecting_ || IsAlive()) return;
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, dead = std::exchange(current_, std::nullopt)]() mutable {
    dead.reset();  // without the lock, because it takes time
    RunAttempt();
  });
  connecting_ = true;
}

void SharedConnection::RunAttempt() {
  std::optional<tools::Workspace> opened;
  std::optional<std::string> failure;
  try {
    opened = open_(stop_.context(), [this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      waiting_for_ = text;
      changed_.notify_all();
    });
  } catch (const std::exception& error) {
    failure = error.what();
    // Stopped by the destructor: nobody waits for this connection any more.
    const bool is_closing = stop_.context().stop_reason() != support::StopReason::kNone;
    if (!is_closing)
      support::LogWarning(support::Format("no connection to the guest: {}", *failure));
  }
  const std::scoped_lock lock(mutex_);
  current_ = std::move(opened);
  last_failure_ = failure;
  waiting_for_ = kConnecting;
  ++attempts_;
  connecting_ = false;
  changed_.notify_all();
}

}  // namespace connection
