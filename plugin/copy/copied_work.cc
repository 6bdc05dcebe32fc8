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
  CopiedWork(const Instance& instance, const std::string& project, const std::string& directory)
      : Work(instance, project.empty() ? FindProjectTop() : project, true), directory_(directory) {
    UseSafeSearchPath(instance.reach);
  }

  [[nodiscard]] std::string GuestDirectory() const override {
    const auto facts = SidePlace(instance().configuration.directory(), project()).ReadFacts();
    if (facts && !facts->directory.empty()) return facts->directory;
    return directory_.empty() ? project() : directory_;
  }

  int Begin(const SendOptions& options) override {
    if (IsStopped(instance())) Start(instance());
    prepared_ = PrepareCopy(instance(), project(), directory_, options);
    return prepared_->setup_status >= kKilled ? prepared_->setup_status : 0;
  }

  void End() override try {
    Copy copy(instance(), project());
    const GuestState state = Fetch(copy, kMaxSize, Refs::kAll);
    if (state.untaken.empty()) return;
    copy.MakeReport(state).Print(std::cerr);
    NotesOn(copy.side(), state.untaken).Print(std::cerr);
    std::cerr << support::Format("See: limactl mcp diff{}. Take: limactl mcp take{}\n",
                                 instance().Argument(), instance().Argument());
  } catch (const std::exception& problem) {
    support::LogWarning(problem.what());
  }

  bool PrintChanges(std::ostream& out) override {
    Copy copy(instance(), project());
    copy.RequireSent();
    const GuestState state = Fetch(copy, kMaxSize, Refs::kAll);
    const bool has_some = PrintReport(
        copy.MakeReport(state),
        support::Format("Changed in the copy of {} since it was sent. See: limactl mcp diff{}",
                        support::Printable(project()), instance().Argument()),
        out);
    if (!has_some) PrintNothing(out);
    NotesOn(copy.side(), state.untaken).Print(std::cerr);
    return has_some;
  }

  void Accept() override {
    throw support::Error("--accept is for a mount. In a copy: limactl mcp take{}",
                         instance().Argument());
  }

  void PrintDiff(bool only_names, std::uint64_t max_size) override {
    Copy copy(instance(), project());
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
  const std::string directory_;
  std::optional<PreparedCopy> prepared_;  ///< while an agent runs
};

}  // namespace

std::unique_ptr<Work> WorkInCopy(const Instance& instance, const std::string& project,
                                 const std::string& directory) {
  return std::make_unique<CopiedWork>(instance, project, directory);
}

}  // namespace copy
