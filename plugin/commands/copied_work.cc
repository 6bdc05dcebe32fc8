// SPDX-License-Identifier: Apache-2.0
#include "commands/copied_work.h"

#include <exception>
#include <iostream>

#include "copy/copy.h"
#include "support/format.h"
#include "support/log.h"
#include "support/printable.h"

namespace commands {

CopiedWork::CopiedWork(const Instance& instance, const std::string& project,
                       const std::string& directory)
    : Work(instance, project.empty() ? FindProjectTop() : project, true), directory_(directory) {
  UseSafeSearchPath(instance.reach);
}

std::string CopiedWork::GuestDirectory() const {
  const auto facts = copy::SidePlace(instance().configuration.directory(), project()).ReadFacts();
  if (facts && !facts->directory.empty()) return facts->directory;
  return directory_.empty() ? project() : directory_;
}

void CopiedWork::Begin() {
  const lima::InstanceConfiguration& configuration = instance().configuration;
  if (IsStopped(configuration)) StartInstance(configuration);
  CopyCommand command(instance().configuration.name, project(), directory_);
  SendCopy(command);
  use_ = command.side().place().TakeUse(copy::LockKind::kShared);
  if (!use_) throw support::Error("the copy is being replaced or dropped; try again later");
}

void CopiedWork::End() {
  try {
    CopyCommand command(instance().configuration.name, project());
    const copy::Target target = command.OpenTarget();
    const auto state = copy::Fetch(target, copy::kMaxSize, copy::Refs::kAll);
    if (state.untaken.empty()) return;
    command.MakeReport(state).Print(std::cerr);
    command.PrintUntaken(target, state.untaken);
    const std::string name = NameArgument(instance());
    std::cerr << support::Format("See: limactl mcp diff{}. Take: limactl mcp take{}\n", name, name);
  } catch (const std::exception& problem) {
    support::LogWarning(problem.what());
  }
}

bool CopiedWork::PrintChanges(std::ostream& out) {
  CopyCommand command(instance().configuration.name, project());
  command.RequireCopy();
  const copy::Target target = command.OpenTarget();
  const auto state = copy::Fetch(target, copy::kMaxSize, copy::Refs::kAll);
  const bool has_some = PrintReport(
      command.MakeReport(state),
      support::Format("Changed in the copy of {} since it was sent. See: limactl mcp diff{}",
                      support::Printable(project()), NameArgument(instance())),
      out);
  if (!has_some) PrintNothing(out);
  command.PrintUntaken(target, state.untaken);
  return has_some;
}

void CopiedWork::Accept() {
  throw support::Error("--accept is for a mount. In a copy: limactl mcp take{}",
                       NameArgument(instance()));
}

void CopiedWork::PrintDiff(bool only_names, std::uint64_t max_size) {
  CopyCommand command(instance().configuration.name, project());
  command.RequireCopy();
  const copy::Target target = command.OpenTarget();
  const copy::GuestState state = copy::Fetch(target, max_size, copy::Refs::kWorkOnly);
  const std::string from = copy::SentOrOlder(command.side());
  if (only_names) {
    command.MakeReport(from, state.work, command.DefaultBranch(state.head)).Print(std::cerr);
  }
  copy::PrintDiff(command.side().git(), {from, state.work}, only_names);
  if (only_names) command.PrintUntaken(target, state.untaken);
}

}  // namespace commands
