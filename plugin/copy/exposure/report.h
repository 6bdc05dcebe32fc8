// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exposure/notes.h"
#include "git/objects.h"
#include "paths/host_programs.h"

/// The one answer to what this host would run or obey of what the guest has changed: in the commits
/// of a copy (commits.h), or in a project on a mount (mounted.h).
namespace exposure {

// The modes of a tree's entries.
inline constexpr const char* kFileMode = "100644";
inline constexpr const char* kExecutableMode = "100755";
inline constexpr const char* kLinkMode = "120000";

struct Change : git::RawChange {
  std::optional<std::string> target = {};  ///< of a link; nothing if it is too long
  /// An existing path that a file system which ignores case or accents takes for this one.
  std::string look_alike = {};
  std::string key = {};   ///< the setting of git in this file that counts
  std::string note = {};  ///< printed after the path

  [[nodiscard]] bool is_deleted() const { return mode == git::kNoEntry; }
};

/// Facts that the user should know before looking at a change. It judges nothing: files that
/// programs on this host run or obey, the most dangerous first, with each row of the table that
/// applies; in one line, other configuration; then links that lead out, executables, submodules,
/// and names that mislead.
struct Report : Notes {
  std::size_t protected_files = 0;  ///< that the file tools refuse, or the user's git names
  bool has_lent = false;            ///< or may have; set by copy::Copy
  bool is_cut = false;              ///< there is more than was examined

  void Cut();  ///< says that there is more
};

Report ReportOn(const std::vector<Change>& changes, const paths::HostPrograms& programs,
                bool is_cut);

}  // namespace exposure
