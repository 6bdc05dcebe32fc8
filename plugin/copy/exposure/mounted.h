// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exposure/report.h"
#include "paths/host_programs.h"

/// What this host would run or obey of a project on a mount, where the guest may have planted
/// anything: git does not run there, and nothing outside of the project is read.
namespace exposure {

/// Where something was, when the user last accepted it or now.
struct State {
  /// A digest of each file that counts, by its path, or of a setting in it, by that and its key.
  std::map<std::pair<std::string, std::string>, std::string> items;
  bool is_cut = false;  ///< there is more than was examined
};

/// Bytes that are read. Each file that is listed counts as 128, each configuration as 256 KiB.
inline constexpr std::size_t kMaxRead = std::size_t{256} << 20;

/// What the file tools refuse to write, in `top` and all below. Of git, for each repository there:
/// hooks, settings that are not known to be harmless, links, `commondir` and recorded resolutions.
/// Files that these name or lead to count with them, if they are in the project.
State ReadState(const std::filesystem::path& top, const paths::HostPrograms& programs,
                std::size_t max_read = kMaxRead);

/// The differences, for a report. A path that was not examined does not count as deleted.
std::vector<Change> Compare(const State& before, const State& after);

/// Kept in the instance's directory, where the guest cannot write.
struct Baseline {
  std::string top;  ///< of the project
  State state;
};

/// The baseline of `directory`, or of the nearest directory above that has one. Ignores where the
/// repository begins: the guest may have made that.
std::optional<Baseline> FindBaseline(const std::filesystem::path& instance_directory,
                                     const std::filesystem::path& directory);

void Save(const std::filesystem::path& instance_directory, const Baseline& baseline);

}  // namespace exposure
