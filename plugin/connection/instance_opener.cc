#include "connection/instance_opener.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "support/errors.h"
#include "support/log.h"

namespace connection {

using support::Clock;

/// One call of Open.
struct InstanceOpener::Attempts {
  InstanceOpener& opener;
  const RetryTimes& times;
  const support::Context& context;
  const ReportStatus& report_status;
  Clock::time_point deadline;
  Clock::duration pause = times.first_pause;
  std::optional<Clock::time_point> broken_since = {};
  std::exception_ptr last_loss = {};
  std::exception_ptr start_failure = {};
  bool started = false;

  tools::Workspace Run() {
    while (true) {
      try {
        return opener.Connect(context.WithDeadline(deadline));
      } catch (const InstanceNotRunning& problem) {
        if (Start(problem)) continue;
        if (!MayRecover(problem)) throw;
      } catch (const support::ConnectionLost& lost) {
        broken_since.reset();
        last_loss = std::current_exception();
        support::LogInfo(lost.what());
        report_status("waiting for the guest's sshd, which cannot be reached yet");
        if (Clock::now() + pause >= deadline) throw;
      } catch (const support::Stopped&) {
        context.ThrowIfStopped();
        if (last_loss) std::rethrow_exception(last_loss);
        throw support::ConnectionLost(
            "the guest did not complete the connection in time: the virtual machine hangs or is "
            "still starting. Call again, or restart it: `limactl stop -f`, `limactl start`",
            false);
      }
      // The clock's last digits are random enough.
      const auto random = Clock::now().time_since_epoch().count() % 1000;
      support::Pause(pause - pause * random / 2000, context);
      pause = std::min(pause * 2, times.max_pause);
    }
  }

  /// Returns true if it tried to start the instance.
  bool Start(const InstanceNotRunning& problem) {
    if (problem.state() != lima::State::kStopped) return false;
    if (start_failure) std::rethrow_exception(start_failure);
    if (!opener.may_start_ || std::exchange(started, true)) return false;
    try {
      opener.Start(context, report_status);
    } catch (const support::CallError&) {
      context.ThrowIfStopped();
      // Another program may be starting the instance; the next attempt finds out.
      start_failure = std::current_exception();
    }
    deadline = Clock::now() + times.total;
    broken_since.reset();
    return true;
  }

  /// Returns true to retry soon.
  bool MayRecover(const InstanceNotRunning& problem) {
    if (problem.state() != lima::State::kBroken) return false;
    if (!broken_since) broken_since = Clock::now();
    if (Clock::now() - *broken_since < times.broken) {
      report_status("waiting for the instance, which looks broken: it may be starting or stopping");
      return true;
    }
    if (start_failure) std::rethrow_exception(start_failure);
    return false;
  }
};

InstanceOpener::InstanceOpener(const InstanceOptions& options, bool may_start,
                               const RetryTimes& times)
    : options_(options), may_start_(may_start), times_(times) {}

tools::Workspace InstanceOpener::Open(const support::Context& context,
                                      const ReportStatus& report_status) {
  const std::optional<Clock::time_point> failed_at = std::exchange(failed_at_, std::nullopt);
  const bool failed_before = failed_at && Clock::now() - *failed_at < times_.memory;
  const Clock::duration total = failed_before ? times_.after_failure : times_.total;
  try {
    return Attempts{*this, times_, context, report_status, Clock::now() + total}.Run();
  } catch (const support::ConnectionLost&) {
    failed_at_ = Clock::now();
    throw;
  }
}

}  // namespace connection
