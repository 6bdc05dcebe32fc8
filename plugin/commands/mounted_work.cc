// SPDX-License-Identifier: Apache-2.0
#include "commands/mounted_work.h"

#include <exception>
#include <iostream>

#include "agents/agent.h"
#include "commands/commands.h"
#include "copy/mounted_tree.h"
#include "copy/side_repository.h"
#include "paths/roots.h"
#include "support/format.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/printable.h"

namespace commands {

namespace fs = std::filesystem;
using exposure::GuestReach;
using support::Error;

namespace {

/// Of a first baseline. Later, reports say so.
constexpr const char* kCut =
    "A part of it was not examined: there is too much, or it cannot be read.\n";

}  // namespace

std::optional<std::string> FindMount(const Instance& instance, const std::string& project) {
  const lima::InstanceConfiguration& configuration = instance.configuration;
  // An earlier --copy-dir means: in a copy.
  const auto place = copy::SidePlace::Find(configuration.directory(), project);
  const auto facts = place ? place->ReadFacts() : std::nullopt;
  if (facts && facts->directory != facts->project) return std::nullopt;

  const std::vector<paths::Root> roots = paths::RootsOfMounts(instance.mounts);
  const auto mount = paths::IndexByHostPath(roots).Find(project);
  if (mount && roots[mount->value].writable)
    return exposure::ResolvedOnHost(roots[mount->value].host);
  const GuestReach readable(instance.mounts, GuestReach::Access::kReading);
  const auto location = readable.MountHoldingOrBelow(project);
  if (!location) return std::nullopt;
  throw Error("the instance \"{}\" mounts {}{}. {}", configuration.name, *location,
              readable.MountHolding(project) ? " read-only" : ", a part of the project",
              CopyAdvice(configuration.name));
}

MountedWork::MountedWork(const Instance& instance, const std::string& mount,
                         const std::string& project)
    : Work(instance, project, false), programs_(agents::ObeyedFiles()) {
  const std::optional<fs::path> repository = FindRepository(project);
  const bool is_mounted = repository && support::PathBelow(repository->string(), mount);
  top_ = is_mounted ? repository->string() : project;
  baseline_ = exposure::FindBaseline(instance.configuration.directory(), project);
  UseSafeSearchPath(instance.reach);
}

std::string MountedWork::GuestDirectory() const {
  const std::vector<paths::Root> roots = paths::RootsOfMounts(instance().mounts);
  const auto mount = paths::IndexByHostPath(roots).Find(project());
  return support::JoinPath(roots[mount->value].guest, mount->rest);
}

void MountedWork::Begin() {
  const bool is_stopped = IsStopped(instance().configuration);
  exposure::State state = ReadState();
  const bool is_first = !baseline_;
  if (is_first) {
    SetBaseline(std::move(state));
    std::cerr << support::Format(
        "The state of {} is its baseline now. What differs later: limactl mcp changes{}\n",
        support::Printable(top_), NameArgument(instance()));
    if (baseline_->state.is_cut) std::cerr << kCut;
  }
  if (is_first || !Print(state, std::cerr)) KeepFiles();
  if (is_stopped) StartInstance(instance().configuration);
}

void MountedWork::End() {
  try {
    const exposure::State state = ReadState();
    // The user may have accepted another meanwhile.
    auto baseline = exposure::FindBaseline(instance().configuration.directory(), baseline_->top);
    if (baseline) baseline_ = std::move(baseline);
    Print(state, std::cerr);
  } catch (const std::exception& problem) {
    support::LogWarning(problem.what());
  }
}

bool MountedWork::PrintChanges(std::ostream& out) {
  RequireBaseline();
  if (Print(ReadState(), out)) return true;
  PrintNothing(out);
  return false;
}

void MountedWork::Accept() {
  exposure::State state = ReadState();
  const bool is_first = !baseline_;
  if (!is_first) Print(state, std::cout);
  SetBaseline(std::move(state));
  std::cout << "This is the baseline now.\n";
  if (is_first && baseline_->state.is_cut) std::cout << kCut;
  KeepFiles();
}

void MountedWork::PrintDiff(bool only_names, std::uint64_t max_size) {
  RequireBaseline();
  if (only_names) Print(ReadState(), std::cerr);
  copy::MountedTree(instance().configuration.directory(), Top()).PrintDiff(only_names, max_size);
}

exposure::State MountedWork::ReadState() const {
  return exposure::ReadState(Top(), programs_);
}

void MountedWork::SetBaseline(exposure::State state) {
  baseline_ = {Top(), std::move(state)};
  exposure::Save(instance().configuration.directory(), *baseline_);
}

void MountedWork::KeepFiles() const try {
  copy::MountedTree(instance().configuration.directory(), Top()).Keep();
} catch (const std::exception& problem) {
  support::LogWarning(
      support::Format("`limactl mcp diff` cannot compare with now: {}", problem.what()));
}

bool MountedWork::Print(const exposure::State& state, std::ostream& out) const {
  const exposure::Report report =
      exposure::ReportOn(exposure::Compare(baseline_->state, state), programs_, state.is_cut);
  const std::string where = support::Format(
      "Changed in {} since the baseline. See: limactl mcp diff{}. "
      "Accept: limactl mcp changes --accept{}",
      support::Printable(baseline_->top), NameArgument(instance()), NameArgument(instance()));
  return PrintReport(report, where, out);
}

void MountedWork::RequireBaseline() const {
  if (baseline_) return;
  throw Error(
      "there is no baseline of {}: limactl mcp run AGENT{} takes it, "
      "or limactl mcp changes --accept{}",
      top_, NameArgument(instance()), NameArgument(instance()));
}

}  // namespace commands
