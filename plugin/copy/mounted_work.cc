// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>
#include <optional>

#include "copy/mounted_tree.h"
#include "copy/project.h"
#include "copy/side_repository.h"
#include "copy/work.h"
#include "exposure/mounted.h"
#include "paths/roots.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/printable.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using exposure::GuestReach;
using support::Error;

/// Of a first baseline. Later, reports say so.
constexpr const char* kCut =
    "A part of it was not examined: there is too much, or it cannot be read.\n";

/// The location of the writable mount that holds `project`; nothing if work on it is in a copy.
std::optional<std::string> FindMount(const Instance& instance, const std::string& project) {
  const lima::InstanceConfiguration& configuration = instance.configuration;
  // An earlier --copy-dir means: in a copy.
  const auto place = SidePlace::Find(configuration.directory(), project, "");
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
              instance.CopyAdvice());
}

class MountedWork : public Work {
 public:
  MountedWork(const Instance& instance, const std::string& mount, const std::string& project)
      : Work(instance, project, false) {
    const std::optional<fs::path> repository = FindRepository(project);
    const bool is_mounted = repository && support::PathBelow(repository->string(), mount);
    top_ = is_mounted ? repository->string() : project;
    baseline_ = exposure::FindBaseline(instance.configuration.directory(), project);
    UseSafeSearchPath(instance.reach);
  }

  [[nodiscard]] std::string GuestDirectory() const override {
    const std::vector<paths::Root> roots = paths::RootsOfMounts(instance().mounts);
    const auto mount = paths::IndexByHostPath(roots).Find(project());
    return support::JoinPath(roots[mount->value].guest, mount->rest);
  }

  int Begin(const SendOptions& /*options*/) override {
    const bool is_stopped = IsStopped(instance());
    exposure::State state = ReadState();
    const bool is_first = !baseline_;
    if (is_first) {
      SetBaseline(std::move(state));
      std::cerr << support::Format(
          "The state of {} is its baseline now. What differs later: limactl mcp changes{}\n",
          support::Printable(top_), instance().Argument());
      if (baseline_->state.is_cut) std::cerr << kCut;
    }
    if (is_first || !Print(state, std::cerr)) KeepFiles();
    if (is_stopped) Start(instance());
    return 0;
  }

  void End() override try {
    const exposure::State state = ReadState();
    // The user may have accepted another meanwhile.
    auto baseline = exposure::FindBaseline(instance().configuration.directory(), baseline_->top);
    if (baseline) baseline_ = std::move(baseline);
    Print(state, std::cerr);
  } catch (const std::exception& problem) {
    support::LogWarning(problem.what());
  }

  bool PrintChanges(std::ostream& out) override {
    RequireBaseline();
    if (Print(ReadState(), out)) return true;
    PrintNothing(out);
    return false;
  }

  void Accept() override {
    exposure::State state = ReadState();
    const bool is_first = !baseline_;
    if (!is_first) Print(state, std::cout);
    SetBaseline(std::move(state));
    std::cout << "This is the baseline now.\n";
    if (is_first && baseline_->state.is_cut) std::cout << kCut;
    KeepFiles();
  }

  void PrintDiff(bool only_names, std::uint64_t max_size) override {
    RequireBaseline();
    if (only_names) Print(ReadState(), std::cerr);
    Tree().PrintDiff(only_names, max_size);
  }

 private:
  [[nodiscard]] std::string Top() const { return baseline_ ? baseline_->top : top_; }

  [[nodiscard]] MountedTree Tree() const { return {instance().configuration.directory(), Top()}; }

  [[nodiscard]] exposure::State ReadState() const {
    return exposure::ReadState(Top(), instance().programs);
  }

  void SetBaseline(exposure::State state) {
    baseline_ = {Top(), std::move(state)};
    exposure::Save(instance().configuration.directory(), *baseline_);
  }

  void KeepFiles() const try { Tree().Keep(); } catch (const std::exception& problem) {
    support::LogWarning(
        support::Format("`limactl mcp diff` cannot compare with now: {}", problem.what()));
  }

  /// Prints the changes since the baseline. Returns whether there are any.
  bool Print(const exposure::State& state, std::ostream& out) const {
    const exposure::Report report = exposure::ReportOn(exposure::Compare(baseline_->state, state),
                                                       instance().programs, state.is_cut);
    const std::string where = support::Format(
        "Changed in {} since the baseline. See: limactl mcp diff{}. "
        "Accept: limactl mcp changes --accept{}",
        support::Printable(baseline_->top), instance().Argument(), instance().Argument());
    return PrintReport(report, where, out);
  }

  void RequireBaseline() const {
    if (baseline_) return;
    throw Error(
        "there is no baseline of {}: limactl mcp run AGENT{} takes it, "
        "or limactl mcp changes --accept{}",
        top_, instance().Argument(), instance().Argument());
  }

  std::string top_;  ///< of the repository, if it is on the mount
  std::optional<exposure::Baseline> baseline_;
};

}  // namespace

std::unique_ptr<Work> WorkOnMount(const Instance& instance, const std::string& project) {
  const auto mount = FindMount(instance, project);
  if (!mount) return nullptr;
  return std::make_unique<MountedWork>(instance, *mount, project);
}

}  // namespace copy
