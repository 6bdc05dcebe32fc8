// SPDX-License-Identifier: Apache-2.0
#include "connection/shared_connection.h"

#include <algorithm>
#include <utility>

#include "connection/closed.h"
#include "mcp/tool.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"

namespace connection {

using support::Clock;

tools::Workspace OpenWithRetries(const Opener& open, const RetryTimes& times,
                                 const support::Context& context,
                                 const ReportStatus& report_status) {
  std::optional<Clock::time_point> lost_since;
  std::optional<Clock::time_point> broken_since;
  std::optional<Clock::time_point> boots_since;
  for (auto pause = times.first_pause;; pause = std::min(pause * 2, times.max_pause)) {
    try {
      return open(context, report_status);
    } catch (const InstanceNotRunning& problem) {
      if (!broken_since) broken_since = Clock::now();
      const bool is_stopped = problem.state() == lima::State::kStopped;
      if (is_stopped || Clock::now() - *broken_since >= times.broken) throw;
      report_status("waiting for the instance, which looks broken: it may be starting or stopping");
    } catch (const StillBooting& booting) {
      // Its scripts end all sessions once.
      lost_since.reset();
      if (!boots_since) boots_since = Clock::now();
      if (Clock::now() - *boots_since >= times.boot) throw;
      report_status(booting.what());
    } catch (const support::ConnectionLost& lost) {
      broken_since.reset();
      if (!lost_since) lost_since = Clock::now();
      if (Clock::now() + pause >= *lost_since + times.lost) throw;
      support::LogInfo(lost.what());
      report_status("waiting for the guest's sshd, which cannot be reached yet");
    }
    // The clock's last digits are random enough.
    const auto random = Clock::now().time_since_epoch().count() % 1000;
    support::Pause(pause - pause * random / 2000, context);
  }
}

std::shared_ptr<guest::Guest> ConnectGuestWithRetries(const std::filesystem::path& lima_home,
                                                      const std::string& name,
                                                      std::shared_ptr<network::Proxy> proxy) {
  InstanceOptions options;
  options.lima_home = lima_home;
  options.name = name;
  options.proxy = std::move(proxy);
  const Opener open = [&](const support::Context& context, const ReportStatus&) {
    return OpenGuest(options, context);
  };
  const auto report = [last = std::string()](const std::string& text) mutable {
    if (text != last) support::LogInfo(text);
    last = text;
  };
  return OpenWithRetries(open, {}, {}, report).guest;
}

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

std::optional<tools::Workspace> SharedConnection::Current() {
  const std::scoped_lock lock(mutex_);
  return IsAlive() ? current_ : std::nullopt;
}

tools::Workspace SharedConnection::Acquire(const support::Context& context,
                                           mcp::ProgressReporter& progress) {
  std::unique_lock lock(mutex_);
  const std::uint64_t earlier_attempts = attempts_;
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
    Connect();
  });
  connecting_ = true;
}

void SharedConnection::Connect() {
  std::optional<tools::Workspace> opened;
  std::optional<std::string> failure;
  RetryTimes times = times_;
  const auto failed_at = std::exchange(failed_at_, std::nullopt);
  if (failed_at && Clock::now() - *failed_at < times.memory) times.lost = times.after_failure;
  try {
    opened = OpenWithRetries(open_, times, stop_.context(), [this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      waiting_for_ = text;
      changed_.notify_all();
    });
  } catch (const std::exception& error) {
    if (dynamic_cast<const support::ConnectionLost*>(&error) != nullptr) failed_at_ = Clock::now();
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
