// SPDX-License-Identifier: Apache-2.0
#include "exposure/guest_reach.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <system_error>

#include "exposure/links.h"
#include "support/errors.h"
#include "support/paths.h"
#include "support/program.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;

/// Whether a name that ends before `next` would go on with it.
bool IsOfName(char next) {
  constexpr std::string_view kSigns = "_.-+@%~";
  const auto byte = static_cast<unsigned char>(next);
  return std::isalnum(byte) != 0 || byte >= 0x80 || kSigns.find(next) != kSigns.npos;
}

/// Whether `path` occurs in `text` and ends there.
bool Occurs(const std::string& path, const std::string& text) {
  for (std::size_t at = text.find(path); at != text.npos; at = text.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    if (end == text.size() || !IsOfName(text[end])) return true;
  }
  return false;
}

}  // namespace

std::string ResolvedOnHost(const fs::path& path) {
  std::error_code error;
  const std::string resolved = fs::weakly_canonical(path, error).string();
  return support::CleanPath(error ? path.string() : resolved);
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
  std::optional<std::string> location;
  Walk("/", path.string(), [&](const Step& step) {
    location = LocationHolding(step.path);
    return !location;
  });
  return location;
}

std::optional<std::string> GuestReach::MountHoldingOrBelow(const fs::path& path) const {
  if (auto holding = MountHolding(path)) return holding;
  const std::string resolved = ResolvedOnHost(path);
  for (const Location& location : locations_) {
    if (support::PathBelow(location.resolved, resolved)) return location.written;
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
  throw support::CommandError("{} lies in {}, which the guest can write; install it elsewhere",
                              program->string(), *mount);
}

}  // namespace exposure
