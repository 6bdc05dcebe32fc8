#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exposure/host_programs.h"
#include "exposure/report.h"

/// What the guest may have planted in a project on a mount: git is not run there, and no link is
/// followed out of it.
namespace exposure {

struct Item {
  std::string mode;   ///< as in a tree of git
  std::string value;  ///< what a link or setting is, or a digest

  bool operator==(const Item& other) const = default;
};

/// What programs of the host run or obey in a project; links that lead out; names with characters
/// that are not seen.
struct State {
  /// By path from the project, and by Change::key.
  std::map<std::pair<std::string, std::string>, Item> items;
  bool is_cut = false;  ///< there is more than was examined
};

/// Reads the project at `top`, and what its directories up to `mount` have themselves, whose paths
/// begin with "../". First what runs soonest: .git, the top level, and directories of `search_path`
/// (the user's PATH); then level by level, until a bound is met. Of a `.git` everything counts that
/// is not known to be data.
State ReadState(const std::filesystem::path& top, const std::filesystem::path& mount,
                const HostPrograms& programs, const std::string& search_path);

/// What differs, for a report. What was not examined is not said to be deleted.
std::vector<Change> Compare(const State& before, const State& after);

/// Fields that end with NUL: four for each item.
std::string Serialize(const State& state);

/// Nothing if it is no regular file, cannot be read, or has more than `limit` bytes.
std::optional<std::string> ReadRegularFile(const std::filesystem::path& file, std::size_t limit);

}  // namespace exposure
