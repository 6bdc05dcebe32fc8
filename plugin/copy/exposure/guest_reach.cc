// SPDX-License-Identifier: Apache-2.0
#include "exposure/guest_reach.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <system_error>

#include "support/errors.h"
#include "support/paths.h"
#include "support/program.h"
#include "support/regex.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;

/// Whether `path` occurs in `text` and ends there.
bool Occurs(const std::string& path, const std::string& text) {
  const support::Regex occurs(support::Regex::Quote(path) + R"((?:[^\w.+@%~\x80-\xff-]|$))",
                              support::Regex::kLatin1);
  return occurs.PartialMatch(text);
}

}  // namespace

std::string ResolvedOnHost(const fs::path& path) {
  std::error_code error;
  const std::string resolved = fs::weakly_canonical(path, error).string();
  return support::CleanPath(error ? path.string() : resolved);
}

std::vector<Step> StepsOf(const fs::path& path, int links) {
  std::vector<Step> steps;
  fs::path reached;
  for (auto name = path.begin(); name != path.end(); ++name) {
    if (*name == "." || name->empty()) continue;
    reached = *name == ".." ? reached.parent_path() : reached / *name;
    std::error_code none;
    fs::path target = fs::read_symlink(reached, none);
    steps.push_back({reached.string(), !none});
    if (none) continue;
    target = reached.parent_path() / target;
    while (++name != path.end()) target /= *name;
    if (links > 0) std::ranges::copy(StepsOf(target, links - 1), std::back_inserter(steps));
    break;
  }
  return steps;
}

GuestReach::GuestReach(const std::vector<lima::Mount>& mounts, Access access) {
  for (const lima::Mount& mount : mounts) {
    if (access == Access::kWriting && !mount.writable && mount.enforces_read_only) continue;
    locations_.push_back({mount.location, ResolvedOnHost(mount.location)});
  }
}

std::optional<std::string> GuestReach::LocationHolding(const std::string& path) const {
  for (const Location& location : locations_) {
    if (support::PathBelow(path, location.written) || support::PathBelow(path, location.resolved)) {
      return location.written;
    }
  }
  return std::nullopt;
}

std::optional<std::string> GuestReach::MountHolding(const fs::path& path) const {
  for (const Step& step : StepsOf(path)) {
    if (auto location = LocationHolding(step.path)) return location;
  }
  return std::nullopt;
}

std::optional<std::string> GuestReach::MountHoldingOrBelow(const fs::path& path) const {
  if (auto holding = MountHolding(path)) return holding;
  const std::string resolved = ResolvedOnHost(path);
  for (const Location& location : locations_) {
    if (support::PathBelow(location.resolved, resolved)) return location.written;
  }
  return std::nullopt;
}

std::optional<std::string> GuestReach::MountOutside(const fs::path& directory) const {
  const std::string resolved = ResolvedOnHost(directory);
  for (const Location& location : locations_) {
    const bool is_outside = !support::PathBelow(location.resolved, resolved);
    if (is_outside && location.written != lima::kSharedDirectory) return location.written;
  }
  return std::nullopt;
}

bool GuestReach::IsNamedIn(const std::string& text) const {
  // Paths may lie in a list such as $PATH, in an option, in a shell's command or in a URL.
  std::string parts = text;
  for (char& c : parts) {
    if (std::string_view(" \t\n\"'`;&|()<>=:,{}[]").find(c) != std::string_view::npos) c = '\n';
  }
  std::istringstream list(parts);
  for (std::string path; std::getline(list, path);) {
    if (path.starts_with('/') && MountHolding(path)) return true;
  }
  return std::any_of(locations_.begin(), locations_.end(), [&](const Location& location) {
    return Occurs(location.written, text) || Occurs(location.resolved, text);
  });
}

std::string GuestReach::SafeSearchPath(const std::string& path) const {
  std::string safe;
  std::istringstream directories(path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (!directory.starts_with('/') || MountHolding(directory)) continue;
    safe += (safe.empty() ? "" : ":") + directory;
  }
  return safe.empty() ? "/usr/bin:/bin" : safe;  // an empty one means the current directory
}

std::optional<fs::path> GuestReach::FindProgram(const std::string& name,
                                                const std::string& path) const {
  auto program = support::FindProgram(name, SafeSearchPath(path));
  const auto mount = program ? MountHolding(*program) : std::nullopt;
  if (!mount) return program;
  throw support::Error("{} lies in {}, which the guest can write; install it elsewhere",
                       program->string(), *mount);
}

}  // namespace exposure
