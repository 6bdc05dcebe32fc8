// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "exposure/host_programs.h"
#include "git/objects.h"

/// The one answer to what this host would run or obey of what the guest has changed: in the commits
/// of a copy (commits.h), or in a project on a mount (state.h).
namespace exposure {

// The modes of a tree's entries.
inline constexpr const char* kTreeMode = "040000";
inline constexpr const char* kExecutableMode = "100755";
inline constexpr const char* kLinkMode = "120000";

// What counts by a path outside of the project (links.h).
inline constexpr HostProgram kOnPath{"", RunBy::kLooking, "shells", "your PATH leads to it"};
inline constexpr HostProgram kInHome{"", RunBy::kLooking, "shells, programs",
                                     "a link in your home directory leads to it",
                                     Writing::kRefused};

/// Begins a Change::key.
inline constexpr std::string_view kSeenAs = "as ";

struct Change : git::RawChange {
  std::optional<std::string> target = {};  ///< of a link; nothing if it is too long
  /// An existing path that a file system which ignores case or accents takes for this one.
  std::string look_alike = {};
  /// Why the path counts, if not by itself: a setting of git, kPathKey, kHomeKey, or "as " with the
  /// path of a link that leads to it.
  std::string key = {};
  std::string note = {};  ///< printed after the path

  [[nodiscard]] bool is_deleted() const { return mode == git::kNoEntry; }
  /// A new directory, whose files are changes of their own.
  [[nodiscard]] bool has_only_look_alike() const {
    return mode == kTreeMode && !look_alike.empty();
  }
};

/// Facts that the user should know before looking at a change. It judges nothing.
struct Report {
  /// Printable, bounded in length: files that programs on this host run or obey, the most dangerous
  /// first, with each row of the table that applies; then links that lead out, executables,
  /// submodules, and names that mislead.
  std::vector<std::string> lines;
  std::size_t protected_files = 0;  ///< that the file tools refuse, or the user's git names
  bool is_cut = false;              ///< there is more than was examined

  void AddSection(const std::string& title, const std::vector<std::string>& rows);
  void Cut();  ///< says that there is more
  void Print(std::ostream& out) const;
};

Report ReportOn(const std::vector<Change>& changes, const HostPrograms& programs, bool is_cut);

}  // namespace exposure
