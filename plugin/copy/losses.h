// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "copy/snapshot.h"
#include "git/objects.h"

namespace copy {

/// Paths of which a change takes away more than the user may expect.
struct Losses {
  /// The user's uncommitted work, which was sent and is as in the commit below it again.
  std::vector<std::string> work;
  /// Files of which a filter or a rule for line ends keeps less than they have.
  std::vector<std::string> bytes;
};

/// `files`: what is there. Writes to `scratch`. Runs the user's filters.
Losses FindLosses(const Git& users, const SideRepository& side,
                  const std::vector<git::RawChange>& changes, const Files& files,
                  const std::filesystem::path& scratch);

/// The ids that `git add` would give to files, by path; none if a filter fails.
std::map<std::string, std::string> CleanIds(const Git& users, const std::vector<std::string>& paths,
                                            bool keep = false);

}  // namespace copy
