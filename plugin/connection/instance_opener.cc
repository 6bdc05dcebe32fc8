#include "connection/instance_opener.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "support/errors.h"
#include "support/log.h"
#include "support/random.h"

namespace connection {
namespace {

using support::Clock;

Clock::duration Jittered(Clock::duration pause) {
  const double part = support::RandomNumber() / (2.0 * UINT32_MAX);
  return pause - std::chrono::duration_cast<Clock::duration>(pause * part);
}

}  // namespace

/// One call of Open.
class InstanceOpener::Attempts {
 public:
  Attempts(InstanceOpener& opener, const support::Context& context,
           const ReportStatus& report_status, Clock::duration total)
      : opener_(opener),
        times_(opener.times_),
        context_(context),
        report_status_(report_status),
        pause_(times_.first_pause),
        deadline_(Clock::now() + total) {}

  tools::Workspace Run() {
    while (true) {
      try {
        return opener_.Connect(context_.WithDeadline(deadline_));
      } catch (const InstanceNotRunning& problem) {
        if (Start(problem)) continue;
        if (!MayRecover(problem)) throw;
      } catch (const support::ConnectionLost& lost) {
        broken_since_.reset();
        last_loss_ = std::current_exception();
        support::LogInfo(lost.what());
        report_status_("waiting for the guest's sshd, which cannot be reached yet");
        if (Clock::now() + pause_ >= deadline_) throw;
      } catch (const support::Stopped&) {
        context_.ThrowIfStopped();
        if (last_loss_) std::rethrow_exception(last_loss_);
        throw support::ConnectionLost(
            "the guest did not complete the connection in time: the virtual machine hangs or is "
            "still starting. Call again, or restart it: `limactl stop -f`, `limactl start`",
            false);
      }
      support::Pause(Jittered(pause_), context_);
      pause_ = std::min(pause_ * 2, times_.max_pause);
    }
  }

 private:
  /// Returns true if it tried to start the instance.
  bool Start(const InstanceNotRunning& problem) {
    if (problem.state() != lima::State::kStopped) return false;
    if (start_failure_) std::rethrow_exception(start_failure_);
    if (!opener_.may_start_ || std::exchange(started_, true)) return false;
    try {
      opener_.Start(context_, report_status_);
    } catch (const support::CallError&) {
      context_.ThrowIfStopped();
      // Another program may be starting the instance; the next attempt finds out.
      start_failure_ = std::current_exception();
    }
    deadline_ = Clock::now() + times_.total;
    broken_since_.reset();
    return true;
  }

  /// Returns true to retry soon.
  bool MayRecover(const InstanceNotRunning& problem) {
    if (problem.state() != lima::State::kBroken) return false;
    if (!broken_since_) broken_since_ = Clock::now();
    if (Clock::now() - *broken_since_ < times_.broken) {
      report_status_(
          "waiting for the instance, which looks broken: it may be starting or stopping");
      return true;
    }
    if (start_failure_) std::rethrow_exception(start_failure_);
    return false;
  }

  InstanceOpener& opener_;
  const RetryTimes& times_;
  const support::Context& context_;
  const ReportStatus& report_status_;
  Clock::duration pause_;
  Clock::time_point deadline_;
  std::optional<Clock::time_point> broken_since_;
  std::exception_ptr last_loss_;
  std::exception_ptr start_failure_;
  bool started_ = false;
};

InstanceOpener::InstanceOpener(const InstanceOptions& options, bool may_start,
                               const RetryTimes& times)
    : options_(options), may_start_(may_start), times_(times), start_(options.name) {}

tools::Workspace InstanceOpener::Open(const support::Context& context,
                                      const ReportStatus& report_status) {
  const std::optional<Clock::time_point> failed_at = std::exchange(failed_at_, std::nullopt);
  const bool failed_before = failed_at && Clock::now() - *failed_at < times_.memory;
  try {
    tools::Workspace opened =
        Attempts(*this, context, report_status, failed_before ? times_.after_failure : times_.total)
            .Run();
    start_.Forget();
    return opened;
  } catch (const support::ConnectionLost&) {
    failed_at_ = Clock::now();
    throw;
  }
}

}  // namespace connection
