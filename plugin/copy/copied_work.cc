// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>
#include <optional>

#include "copy/copy.h"
#include "copy/diff.h"
#include "copy/setup.h"
#include "copy/work.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/printable.h"

namespace copy {
namespace {

class CopiedWork : public Work {
 public:
  CopiedWork(const Instance& instance, const Choice& choice)
      : Work(instance, choice.project.empty() ? FindProjectTop() : choice.project, true),
        choice_{project(), choice.name, choice.directory} {
    UseSafeSearchPath(instance.reach);
  }

  [[nodiscard]] std::string AgentsPath() const override {
    return choice_.name.empty() ? project() : GuestDirectory();
  }

  [[nodiscard]] std::string GuestDirectory() const override {
    const auto facts = Place().ReadFacts();
    if (facts && !facts->directory.empty()) return facts->directory;
    return choice_.directory.empty() ? Place().DefaultDirectory() : choice_.directory;
  }

  int Begin(const SendOptions& options) override {
    if (IsStopped(instance())) Start(instance());
    if (!Place().TakeUse(LockKind::kExclusive)) {
      std::cerr << support::Format(
          "This copy is in use already. For a copy of its own: limactl mcp run AGENT{} "
          "--name NAME\n",
          instance().Argument());
    }
    prepared_ = PrepareCopy(instance(), choice_, options);
    return prepared_->setup_status >= kKilled ? prepared_->setup_status : 0;
  }

  void End() override try {
    Copy copy(instance(), {project(), choice_.name});
    const GuestState state = Fetch(copy, kMaxSize, Refs::kAll);
    if (state.untaken.empty()) return;
    copy.MakeReport(state).Print(std::cerr);
    NotesOn(copy.side(), state.untaken).Print(std::cerr);
    std::cerr << support::Format("See: limactl mcp diff{}. Take: limactl mcp take{}\n", Arguments(),
                                 Arguments());
  } catch (const std::exception& problem) {
    support::LogWarning(problem.what());
  }

  bool PrintChanges(std::ostream& out) override {
    Copy copy(instance(), {project(), choice_.name});
    copy.RequireSent();
    const GuestState state = Fetch(copy, kMaxSize, Refs::kAll);
    const bool has_some = PrintReport(
        copy.MakeReport(state),
        support::Format("Changed in the copy of {} since it was sent. See: limactl mcp diff{}",
                        support::Printable(project()), Arguments()),
        out);
    if (!has_some) PrintNothing(out);
    NotesOn(copy.side(), state.untaken).Print(std::cerr);
    return has_some;
  }

  void Accept() override {
    throw support::Error("--accept is for a mount. In a copy: limactl mcp take{}", Arguments());
  }

  void PrintDiff(bool only_names, std::uint64_t max_size) override {
    Copy copy(instance(), {project(), choice_.name});
    copy.RequireSent();
    const GuestState state = Fetch(copy, max_size, Refs::kWorkOnly);
    const std::string from = SentOrNothing(copy.side());
    if (only_names) {
      copy.MakeReport(from, state.work, copy.DefaultBranch(state.head)).Print(std::cerr);
    }
    copy::PrintDiff(copy.side().git(), {from, state.work}, only_names);
    if (only_names) NotesOn(copy.side(), state.untaken).Print(std::cerr);
  }

 private:
  [[nodiscard]] SidePlace Place() const {
    return {instance().configuration.directory(), project(), choice_.name};
  }

  /// Of a command in a text.
  [[nodiscard]] std::string Arguments() const {
    return instance().Argument() + (choice_.name.empty() ? "" : " --name " + choice_.name);
  }

  const Choice choice_;
  std::optional<PreparedCopy> prepared_;  ///< while an agent runs
};

}  // namespace

std::unique_ptr<Work> WorkInCopy(const Instance& instance, const Choice& choice) {
  return std::make_unique<CopiedWork>(instance, choice);
}

}  // namespace copy
