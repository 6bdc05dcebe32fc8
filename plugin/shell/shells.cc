#include "shell/shells.h"

#include <algorithm>
#include <utility>

#include "shell/mark.h"
#include "shell/shell_quote.h"
#include "support/errors.h"

namespace shell {
namespace {

using Condition = ResidentShell::Condition;
using Effect = ResidentShell::Effect;
using Reply = ResidentShell::Reply;

/// How many shells are started for one request. A file of the profile may change between two.
constexpr int kMostStarts = 2;

// What a shell says of a program that it cannot find or run.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

class DiscardingSink final : public OutputSink {
 public:
  bool OnOutput(Stream, std::string_view) override { return true; }
};

}  // namespace

Shells::~Shells() {
  const auto deadline = support::Clock::now() + kSettleTime;
  for (const Kept& kept : kept_) kept.shell->WaitUntilSettled(deadline);
}

RunEnd Shells::RunScript(const std::string& script, OutputSink& sink,
                         const support::Context& context) {
  const RunEnd end = RunInScriptShell(script, Effect::kNone, sink, context);
  if (end.exit_signal) {
    throw support::CallError("What this server ran in the guest was ended by signal " +
                             *end.exit_signal + ": call again.");
  }
  return end;
}

RunEnd Shells::RunInScriptShell(const std::string& script, Effect effect, OutputSink& sink,
                                const support::Context& context) {
  const Reply reply = Run({}, Request(script), effect, sink, context);
  if (reply.kind != Reply::Kind::kDone) {
    throw support::CallError(
        "The guest user's login shell could not run /bin/sh: " +
        (reply.error.empty() ? "it ended at once; perhaps the guest can start no further process"
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
  RunEnd end = RunInScriptShell(PlainLogin(command), Effect::kAny, sink, context);
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
  std::unique_ptr<ResidentShell> shell;
  for (int starts = 0; reply.kind == Reply::Kind::kNotRun;) {
    if (!shell) shell = Take(kind);
    if (shell) {
      reply = shell->Run(request, effect, sink, context, [this] { return MakeRoom(); });
      Keep(kind, std::move(shell));
    } else if (++starts <= kMostStarts) {
      reply = RunInNew(kind, request, effect, sink, context, shell);
      if (shell) --starts;
    } else {
      break;
    }
  }
  if (shell) Keep(kind, std::move(shell));
  return reply;
}

Reply Shells::RunInNew(const Kind& kind, const std::string& request, Effect effect,
                       OutputSink& sink, const support::Context& context,
                       std::unique_ptr<ResidentShell>& instead) {
  std::unique_ptr<ResidentShell> shell = Start(kind);
  std::list<Waiting>::iterator waiting;
  {
    const std::scoped_lock lock(mutex_);
    waiting = waiting_.insert(waiting_.end(), {kind, *shell, nullptr});
  }
  const auto stop_waiting = [&] {
    const std::scoped_lock lock(mutex_);
    instead = std::move(waiting->instead);
    waiting_.erase(waiting);
  };
  Reply reply;
  try {
    reply = shell->Run(request, effect, sink, context, [this] { return MakeRoom(); });
  } catch (...) {
    stop_waiting();
    if (instead) Keep(kind, std::move(instead));
    throw;
  }
  stop_waiting();
  if (!instead || reply.kind != Reply::Kind::kNotRun) Keep(kind, std::move(shell));
  return reply;
}

std::unique_ptr<ResidentShell> Shells::Start(const Kind& kind) {
  const std::string mark = MakeMark();
  return std::make_unique<ResidentShell>(
      launcher_, kind.is_login ? Turn::kOpenEnded : Turn::kInOrder, mark,
      kind.is_login ? LoginShell(mark, kind.directory, kind.shell) : ScriptShell(mark));
}

std::unique_ptr<ResidentShell> Shells::Take(const Kind& kind) {
  const std::scoped_lock lock(mutex_);
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

void Shells::Keep(const Kind& kind, std::unique_ptr<ResidentShell> shell) {
  std::vector<Kept> closed;  // after the lock has been let go
  const std::scoped_lock lock(mutex_);
  if (PassOn(kind, shell)) return;
  kept_.push_back({kind, std::move(shell)});
  std::size_t login = 0;
  std::size_t script = 0;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    const Condition condition = kept->shell->condition();
    bool close = condition == Condition::kOver;
    if (condition == Condition::kIdle || condition == Condition::kSettling) {
      const bool beyond =
          kept->kind.is_login ? ++login > kMostIdleLogin : ++script > kMostIdleScript;
      close = beyond && condition == Condition::kIdle;
    }
    if (close) closed.push_back({kept->kind, std::move(kept->shell)});
  }
  std::erase_if(kept_, [](const Kept& kept) { return !kept.shell; });
}

bool Shells::PassOn(const Kind& kind, std::unique_ptr<ResidentShell>& shell) {
  const Condition condition = shell->condition();
  if (condition != Condition::kIdle && condition != Condition::kSettling) return false;
  for (Waiting& waiting : waiting_) {
    if (waiting.instead || !waiting.shell.is_queued()) continue;
    if (waiting.kind != kind) return false;  // it makes room for itself
    if (!waiting.shell.AbandonWhileQueued()) continue;
    waiting.instead = std::move(shell);
    return true;
  }
  return false;
}

bool Shells::MakeRoom() {
  std::unique_ptr<ResidentShell> closed;  // after the lock has been let go
  const std::scoped_lock lock(mutex_);
  for (const Condition wanted : {Condition::kRetired, Condition::kIdle}) {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
      return kept.shell->condition() == wanted;
    });
    if (found == kept_.end()) continue;
    closed = std::move(found->shell);
    kept_.erase(found);
    return true;
  }
  return false;
}

}  // namespace shell
