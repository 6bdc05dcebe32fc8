#include "shell/shells.h"

#include <algorithm>
#include <utility>

#include "shell/shell_quote.h"
#include "support/errors.h"

namespace shell {
namespace {

using Condition = ResidentShell::Condition;
using Effect = ResidentShell::Effect;
using Reply = ResidentShell::Reply;

/// Shells that are started for one request: a file of the profile may change between two.
constexpr int kMostStarts = 2;

/// Between looks for a free shell: those that settle do not report it.
constexpr std::chrono::milliseconds kLookInterval{50};

// Exit statuses of a shell whose program is missing or cannot be run.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

class DiscardingSink final : public OutputSink {
 public:
  bool OnOutput(Stream, std::string_view) override { return true; }
};

}  // namespace

RunEnd Shells::RunScript(const std::string& script, OutputSink& sink,
                         const support::Context& context) {
  const RunEnd end = RunInScriptShell({}, script, Effect::kNone, sink, context);
  if (end.exit_signal) {
    throw support::CallError("A script of this server was killed in the guest by signal " +
                             *end.exit_signal + ": call again.");
  }
  return end;
}

RunEnd Shells::RunInScriptShell(const Kind& kind, const std::string& script, Effect effect,
                                OutputSink& sink, const support::Context& context) {
  const Reply reply = Run(kind, Request(script), effect, sink, context);
  if (reply.kind != Reply::Kind::kDone) {
    throw support::CallError(
        "The guest user's login shell could not run /bin/sh: " +
        (reply.error.empty() ? "it exited at once; perhaps the guest can start no further process"
                             : reply.error));
  }
  return reply.end;
}

RunEnd Shells::RunCommand(const LoginCommand& command, OutputSink& sink,
                          const support::Context& context) {
  const auto is_unfit = [&] {
    const std::scoped_lock lock(mutex_);
    return unfit_.contains(command.shell);
  };
  if (MayBeBash(command.shell) && !is_unfit()) {
    const Reply reply = Run({true, command.directory, command.shell},
                            Request(command.text, command.first_word), Effect::kAny, sink, context);
    if (reply.kind == Reply::Kind::kDone) return reply.end;
    if (reply.kind != Reply::Kind::kNoDirectory) {
      const std::scoped_lock lock(mutex_);
      unfit_.insert(command.shell);
    }
  }
  RunEnd end = RunInScriptShell({true, "", ""}, PlainLogin(command), Effect::kAny, sink, context);
  if (end.exit_status == kCannotRun || end.exit_status == kNotFound) {
    DiscardingSink ignored;
    const std::string shell = command.shell.empty() ? "\"$SHELL\"" : ShellQuote(command.shell);
    end.shell_missing = RunScript("command -v " + shell, ignored, context).exit_status != 0;
  }
  return end;
}

Reply Shells::Run(const Kind& kind, const std::string& request, Effect effect, OutputSink& sink,
                  const support::Context& context) {
  Reply reply{Reply::Kind::kNotRun, {}, ""};
  for (int starts = 0; reply.kind == Reply::Kind::kNotRun && starts < kMostStarts;) {
    Taken taken = Take(kind, sink, context);
    if (taken.is_new) ++starts;
    try {
      reply = taken.shell->Run(request, effect, sink, context);
    } catch (...) {
      Return(kind, nullptr);
      throw;
    }
    Return(kind, std::move(taken.shell));
  }
  return reply;
}

Shells::Taken Shells::Take(const Kind& kind, OutputSink& sink, const support::Context& context) {
  {
    support::ContextWait wait(context, mutex_, changed_);
    std::unique_lock lock(mutex_);
    for (bool waits = false;; waits = true) {
      const bool may_run = running_.at(kind.runs_commands ? 1 : 0) < Most(kind.runs_commands);
      std::unique_ptr<ResidentShell> kept = may_run ? TakeKept(kind) : nullptr;
      if (kept || (may_run && HasRoom(kind.runs_commands))) {
        ++running_.at(kind.runs_commands ? 1 : 0);
        if (kept) return {std::move(kept), false};
        break;
      }
      if (!waits) {
        lock.unlock();
        sink.OnQueued();
        lock.lock();
      }
      wait.Until(
          lock, [] { return false; }, support::Clock::now() + kLookInterval);
      context.ThrowIfStopped();
    }
  }
  const std::string marker = MakeEndMarker();
  return {std::make_unique<ResidentShell>(launcher_, marker,
                                          kind.directory.empty()
                                              ? ScriptShell(marker)
                                              : LoginShell(marker, kind.directory, kind.shell)),
          true};
}

void Shells::Return(const Kind& kind, std::unique_ptr<ResidentShell> shell) {
  {
    const std::scoped_lock lock(mutex_);
    --running_.at(kind.runs_commands ? 1 : 0);
    if (shell && shell->condition() != Condition::kOver) kept_.push_back({kind, std::move(shell)});
  }
  changed_.notify_all();
}

std::unique_ptr<ResidentShell> Shells::TakeKept(const Kind& kind) {
  std::erase_if(kept_,
                [](const Kept& kept) { return kept.shell->condition() == Condition::kOver; });
  for (const Condition wanted : {Condition::kIdle, Condition::kSettling}) {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& kept) {
      return kept.kind == kind && kept.shell->condition() == wanted;
    });
    if (found == kept_.rend()) continue;
    std::unique_ptr<ResidentShell> shell = std::move(found->shell);
    kept_.erase(std::next(found).base());
    return shell;
  }
  return nullptr;
}

std::size_t Shells::Most(bool for_commands) const {
  const std::size_t channels = launcher_.channels_for_shells();
  if (for_commands) return channels - std::max<std::size_t>(running_.at(0), 1);
  // The second shell for scripts leaves two channels to commands.
  return running_.at(1) + 2 <= channels && channels >= 4 ? kMostScriptShells : 1;
}

bool Shells::HasRoom(bool for_commands) {
  // Retired shells keep their channels until sshd refuses a further one.
  const auto is_of_kind = [&](const Kept& kept) {
    return kept.kind.runs_commands == for_commands &&
           kept.shell->condition() != Condition::kRetired;
  };
  const auto kept = static_cast<std::size_t>(std::count_if(kept_.begin(), kept_.end(), is_of_kind));
  return kept + running_.at(for_commands ? 1 : 0) < Most(for_commands) || CloseOne(is_of_kind);
}

template <typename Predicate>
bool Shells::CloseOne(Predicate predicate) {
  for (const Condition wanted : {Condition::kRetired, Condition::kIdle}) {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
      return predicate(kept) && kept.shell->condition() == wanted;
    });
    if (found == kept_.end()) continue;
    kept_.erase(found);
    return true;
  }
  return false;
}

bool Shells::MakeRoom() {
  const std::scoped_lock lock(mutex_);
  return CloseOne([](const Kept&) { return true; });
}

void Shells::Close() {
  std::vector<Kept> closed;
  {
    const std::scoped_lock lock(mutex_);
    closed.swap(kept_);
  }
  const auto deadline = support::Clock::now() + kSettleTime;
  for (const Kept& kept : closed) kept.shell->WaitUntilSettled(deadline);
}

}  // namespace shell
