#include "commands/mounted_project.h"

#include <csignal>
#include <exception>
#include <iostream>

#include "agents/agent.h"
#include "changes/working_tree.h"
#include "commands/commands.h"
#include "copy/side_repository.h"
#include "paths/roots.h"
#include "support/environment.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/printable.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using paths::GuestReach;
using support::CallError;

constexpr const char* kLimits =
    "Source code is not judged, and the guest can change more while the VM runs.\n";

}  // namespace

std::optional<std::string> FindMount(const Instance& instance, const std::string& project) {
  const lima::InstanceConfiguration& configuration = instance.configuration;
  // A --copy-dir of before.
  const auto place = copy::SidePlace::Find(configuration.directory(), project);
  const auto facts = place ? place->ReadFacts() : std::nullopt;
  if (facts && facts->directory != facts->project) return std::nullopt;

  const std::vector<paths::Root> roots = paths::RootsOfMounts(instance.mounts);
  const auto mount = paths::HostNames(roots).Find(project);
  if (mount && roots[mount->value].writable) return paths::Resolved(roots[mount->value].host);
  const GuestReach readable(instance.mounts, GuestReach::Access::kReading);
  const auto location = readable.Touching(project);
  if (!location) return std::nullopt;
  throw CallError("the instance \"" + configuration.name + "\" mounts " + *location +
                  (readable.Above(project) ? " read-only" : ", a part of the project") +
                  ". Work in a copy instead: " +
                  (configuration.name == kAgentInstance
                       ? ""
                       : std::string("limactl mcp run AGENT ") + kAgentInstance + ", or ") +
                  "--copy-dir DIR, outside all mounts");
}

MountedProject::MountedProject(const Instance& instance, const std::string& mount,
                               const std::string& project)
    : instance_(instance.configuration.name == kAgentInstance ? ""
                                                              : " " + instance.configuration.name),
      instance_directory_(instance.configuration.directory()),
      programs_(agents::ObeyedFiles()),
      search_path_(support::EnvironmentVariable("PATH")) {
  std::optional<fs::path> top = FindRepository(project);
  if (top && !support::PathBelow(top->string(), mount)) top.reset();
  baseline_ = changes::FindBaseline(instance_directory_, project, top);
  top_ = baseline_ ? baseline_->top : top.value_or(project).string();
  UseSafeSearchPath(instance.reach);
}

void MountedProject::BeginSession() {
  const changes::State state = ReadState();
  if (!baseline_) {
    baseline_ = {top_, "", state};
    SaveSeen(state);
  } else if (changes::Digest(state) != baseline_->last_seen) {
    Print(state, std::cerr);
  }
}

void MountedProject::EndSession() {
  try {
    const changes::State state = ReadState();
    // The user may have accepted another meanwhile.
    if (auto baseline = changes::FindBaseline(instance_directory_, top_, top_))
      baseline_ = baseline;
    Print(state, std::cerr);
    SaveSeen(state);
  } catch (const std::exception& problem) {
    support::LogWarning(problem.what());
  }
}

bool MountedProject::PrintChanges(std::ostream& out) const {
  if (!baseline_) {
    throw CallError("there is no baseline of " + top_ + ": limactl mcp run AGENT" + instance_ +
                    " takes it, or limactl mcp changes --accept" + instance_);
  }
  if (Print(ReadState(), out)) return true;
  out << "Nothing was changed that programs of this host run or obey. " << kLimits;
  return false;
}

void MountedProject::Accept() const {
  const changes::State state = ReadState();
  if (baseline_) Print(state, std::cout);
  changes::Save(instance_directory_, {top_, changes::Digest(state), state});
  std::cout << "This is the baseline now.\n";
}

void MountedProject::PrintDiff(bool only_names, std::uint64_t max_size) const {
  if (only_names && baseline_) Print(ReadState(), std::cerr);
  changes::PrintWorkingTree(instance_directory_, top_, only_names, max_size);
}

changes::State MountedProject::ReadState() const {
  return changes::ReadState(top_, programs_, search_path_);
}

bool MountedProject::Print(const changes::State& state, std::ostream& out) const {
  const copy::Report report =
      copy::ReportOn(changes::Compare(baseline_->state, state), programs_, state.is_cut);
  for (const std::string& line : report.lines) out << line << '\n';
  if (report.lines.empty()) return false;
  out << "Changed in " << support::Printable(top_) << " since the baseline. See: limactl mcp diff"
      << instance_ << ". Accept: limactl mcp changes --accept" << instance_ << '\n'
      << kLimits;
  return true;
}

void MountedProject::SaveSeen(const changes::State& state) {
  baseline_->last_seen = changes::Digest(state);
  changes::Save(instance_directory_, *baseline_);
}

std::optional<MountedProject> FindMountedProject(const std::string& instance) {
  const std::string project = FindProject(support::EnvironmentVariable("HOME")).string();
  const Instance loaded = LoadInstance(instance);
  const auto mount = FindMount(loaded, project);
  if (!mount) return std::nullopt;
  loaded.RequireOutOfReach(loaded.configuration.directory());
  (void)::signal(SIGPIPE, SIG_IGN);  // a pager that stops reading is an error of write()
  return MountedProject(loaded, *mount, project);
}

}  // namespace commands
