#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copy/report.h"
#include "paths/host_programs.h"

/// What the guest may have planted in a project on a mount: git is not run there, and no link is
/// followed.
namespace changes {

struct Item {
  std::string mode;   ///< as in a tree of git
  std::string value;  ///< what a link or setting is, or a digest

  bool operator==(const Item& other) const = default;
};

/// What programs of the host run or obey in a project, and links that lead out.
struct State {
  /// By path, and by the key of the table's row if that is not about the path itself.
  std::map<std::pair<std::string, std::string>, Item> items;
  bool is_cut = false;  ///< there is more than can be examined
};

/// Reads the project at `top`, within bounds. `search_path` is the user's PATH.
State ReadState(const std::filesystem::path& top, const paths::HostPrograms& programs,
                const std::string& search_path);

/// What differs, for a report.
std::vector<copy::Change> Compare(const State& before, const State& after);

/// Fields that end with NUL: four for each item.
std::string Serialize(const State& state);

/// Nothing if it is no regular file, cannot be read, or has more than `limit` bytes.
std::optional<std::string> ReadRegularFile(const std::filesystem::path& file, std::size_t limit);

}  // namespace changes
