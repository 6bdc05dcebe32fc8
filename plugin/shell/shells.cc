#include "shell/shells.h"

#include <algorithm>
#include <utility>

#include "shell/shell_quote.h"
#include "support/errors.h"

namespace shell {
namespace {

/// Between looks at Launcher::channels_for_shells, which does not report when it grows.
constexpr std::chrono::milliseconds kLookInterval{50};

using Condition = ResidentShell::Condition;
using Effect = ResidentShell::Effect;
using Reply = ResidentShell::Reply;

/// For one request: a file of the profile may change between two.
constexpr int kMostStarts = 2;

// Exit statuses of a shell whose program is missing or cannot be run.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

struct DiscardingSink final : OutputSink {
  bool OnOutput(Stream, std::string_view) override { return true; }
};

}  // namespace

RunEnd Shells::RunScript(const std::string& script, OutputSink& sink,
                         const support::Context& context) {
  const RunEnd end = RunInSh({}, script, sink, context);
  if (end.exit_signal) {
    throw support::CallError("A script of this server was killed in the guest by signal " +
                             *end.exit_signal + ": call again.");
  }
  return end;
}

RunEnd Shells::RunInSh(const Kind& kind, const std::string& script, OutputSink& sink,
                       const support::Context& context) {
  const Reply reply = Run(kind, ScriptRequest(script), sink, context);
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
  std::unique_lock lock(mutex_);
  const bool is_unfit = unfit_.contains(command.shell);
  lock.unlock();
  if (MayBeBash(command.shell) && !is_unfit) {
    const Reply reply = Run({true, command.shell}, CommandRequest(command), sink, context);
    if (reply.kind == Reply::Kind::kDone) return reply.end;
    // kNotRun: each of the shells has changed the files of its profile.
    const std::scoped_lock again(mutex_);
    if (reply.kind != Reply::Kind::kNotStarted) unfit_.insert(command.shell);
  }
  RunEnd end = RunInSh({true, {}}, PlainLogin(command), sink, context);
  if (end.exit_status == kCannotRun || end.exit_status == kNotFound) {
    DiscardingSink ignored;
    const std::string shell = command.shell.empty() ? "\"$SHELL\"" : ShellQuote(command.shell);
    end.shell_missing = RunScript("command -v " + shell, ignored, context).exit_status != 0;
  }
  return end;
}

Reply Shells::Run(const Kind& kind, const Request& request, OutputSink& sink,
                  const support::Context& context) {
  const auto effect = kind.for_commands ? Effect::kAny : Effect::kNone;
  Reply reply{Reply::Kind::kNotRun, {}, ""};
  for (int starts = 0; reply.kind == Reply::Kind::kNotRun && starts < kMostStarts;) {
    std::unique_ptr<ResidentShell> shell = Take(kind, sink, context);
    try {
      if (!shell) {
        shell = Start(kind);
        ++starts;
      }
      reply = shell->Run(request, effect, sink, context);
    } catch (...) {
      Return(kind, nullptr);
      throw;
    }
    Return(kind, std::move(shell));
  }
  return reply;
}

std::unique_ptr<ResidentShell> Shells::Take(const Kind& kind, OutputSink& sink,
                                            const support::Context& context) {
  std::unique_ptr<ResidentShell> shell;
  support::ContextWait wait(context, mutex_, changed_);
  std::unique_lock lock(mutex_);
  const auto may_run = [&] {
    if (running_.at(kind.for_commands ? 1 : 0) >= Most(kind.for_commands)) return false;
    if (!shell) shell = TakeIdle(kind);
    return shell || HasRoom(kind.for_commands);
  };
  if (!may_run()) {
    lock.unlock();
    sink.OnQueued();
    lock.lock();
    while (!wait.Until(lock, may_run, support::Clock::now() + kLookInterval)) {
      context.ThrowIfStopped();
    }
  }
  ++running_.at(kind.for_commands ? 1 : 0);
  return shell;
}

std::unique_ptr<ResidentShell> Shells::Start(const Kind& kind) {
  return std::make_unique<ResidentShell>(
      launcher_, kind.login_shell
                     ? LoginProgram(*kind.login_shell)
                     : ScriptProgram(kind.for_commands ? Requests::kOne : Requests::kMany));
}

void Shells::Return(const Kind& kind, std::unique_ptr<ResidentShell> shell) {
  {
    const std::scoped_lock lock(mutex_);
    --running_.at(kind.for_commands ? 1 : 0);
    if (shell && shell->condition() != Condition::kOver) pool_.push_back({kind, std::move(shell)});
  }
  changed_.notify_all();
}

std::unique_ptr<ResidentShell> Shells::TakeIdle(const Kind& kind) {
  std::erase_if(pool_,
                [](const Pooled& pooled) { return pooled.shell->condition() == Condition::kOver; });
  for (const Condition wanted : {Condition::kIdle, Condition::kSettling}) {
    const auto found = std::find_if(pool_.rbegin(), pool_.rend(), [&](const Pooled& pooled) {
      return pooled.kind == kind && pooled.shell->condition() == wanted;
    });
    if (found == pool_.rend()) continue;
    std::unique_ptr<ResidentShell> shell = std::move(found->shell);
    pool_.erase(std::next(found).base());
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
  const auto is_idle = [&](const Pooled& pooled) {
    return pooled.kind.for_commands == for_commands &&
           pooled.shell->condition() <= Condition::kSettling;
  };
  const auto idle = static_cast<std::size_t>(std::count_if(pool_.begin(), pool_.end(), is_idle));
  return idle + running_.at(for_commands ? 1 : 0) < Most(for_commands) ||
         CloseFirst(Condition::kIdle, for_commands);
}

bool Shells::CloseFirst(Condition condition, std::optional<bool> for_commands) {
  const auto found = std::find_if(pool_.begin(), pool_.end(), [&](const Pooled& pooled) {
    return pooled.shell->condition() == condition &&
           pooled.kind.for_commands == for_commands.value_or(pooled.kind.for_commands);
  });
  if (found == pool_.end()) return false;
  pool_.erase(found);
  return true;
}

bool Shells::MakeRoom() {
  const std::scoped_lock lock(mutex_);
  return CloseFirst(Condition::kInUse, {}) || CloseFirst(Condition::kIdle, {});
}

void Shells::Close() {
  const std::scoped_lock lock(mutex_);
  pool_.clear();
}

}  // namespace shell
