#include "connection/patient_opener.h"

#include <algorithm>
#include <exception>
#include <random>
#include <string>
#include <utility>

#include "connection/pause.h"
#include "support/log.h"
#include "support/random.h"

namespace connection {
namespace {

using support::Clock;

/// Many programs that wait for the same sshd must not come back at the same moments.
Clock::duration Jittered(Clock::duration pause) {
  support::RandomBits random;
  std::uniform_int_distribution<Clock::rep> part(pause.count() / 2, pause.count());
  return Clock::duration(part(random));
}

}  // namespace

/// One call of Open.
class PatientOpener::Run {
 public:
  Run(const PatientOpener& opener, const support::Context& context, const Tell& tell,
      Clock::time_point deadline)
      : steps_(opener.steps_),
        patience_(opener.patience_),
        context_(context),
        tell_(tell),
        pause_(patience_.first_pause),
        deadline_(deadline) {}

  OpenedConnection Open() {
    while (true) {
      try {
        return steps_.attempt(context_.WithDeadline(deadline_));
      } catch (const InstanceNotRunning& problem) {
        if (StartInstead(problem)) continue;
        if (!MayRecover(problem)) throw;
      } catch (const support::ConnectionLost& lost) {
        broken_since_.reset();
        last_loss_ = std::current_exception();
        support::LogInfo(lost.what());
        tell_("waiting for the guest's sshd, which cannot be reached yet");
        if (Clock::now() + pause_ >= deadline_) throw;
      } catch (const support::Stopped&) {
        context_.ThrowIfStopped();
        if (last_loss_) std::rethrow_exception(last_loss_);
        throw support::ConnectionLost(
            "the guest did not complete the connection in time: the virtual machine hangs, or is "
            "starting still. Call again; if that does not help: `limactl stop -f` and `limactl "
            "start`",
            false);
      }
      Pause(Jittered(pause_), context_);
      pause_ = std::min(pause_ * 2, patience_.longest_pause);
    }
  }

 private:
  /// Whether the instance has been started, or something came of the attempt to start it.
  bool StartInstead(const InstanceNotRunning& problem) {
    if (problem.state() != lima::State::kStopped) return false;
    if (start_failure_) std::rethrow_exception(start_failure_);
    if (!steps_.start || std::exchange(started_, true)) return false;
    try {
      steps_.start(context_, tell_);
    } catch (const support::CallError&) {
      context_.ThrowIfStopped();
      // Somebody else may be starting it at this very moment: the next attempt shows.
      start_failure_ = std::current_exception();
    }
    deadline_ = Clock::now() + patience_.total;
    broken_since_.reset();
    return true;
  }

  /// Whether to look again soon.
  bool MayRecover(const InstanceNotRunning& problem) {
    if (problem.state() != lima::State::kBroken) return false;
    if (!broken_since_) broken_since_ = Clock::now();
    if (Clock::now() - *broken_since_ < patience_.broken) {
      tell_("waiting for the instance, which looks broken: it may be starting or stopping");
      return true;
    }
    if (start_failure_) std::rethrow_exception(start_failure_);
    return false;
  }

  const Steps& steps_;
  const Patience& patience_;
  const support::Context& context_;
  const Tell& tell_;
  Clock::duration pause_;
  Clock::time_point deadline_;
  std::optional<Clock::time_point> broken_since_;
  std::exception_ptr last_loss_;
  std::exception_ptr start_failure_;
  bool started_ = false;
};

OpenedConnection PatientOpener::Open(const support::Context& context, const Tell& tell) {
  const Clock::time_point now = Clock::now();
  std::optional<Clock::time_point> since = std::exchange(failing_since_, std::nullopt);
  if (!since || now - failed_at_ > patience_.forget) since = now;
  const Clock::time_point deadline = std::max(*since + patience_.total, now + patience_.again);
  try {
    return Run(*this, context, tell, deadline).Open();
  } catch (const support::ConnectionLost&) {
    failing_since_ = since;
    failed_at_ = Clock::now();
    throw;
  }
}

}  // namespace connection
