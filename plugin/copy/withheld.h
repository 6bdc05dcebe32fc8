// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copy/project.h"
#include "copy/side_repository.h"
#include "git/git.h"

namespace copy {

using git::Git;

/// The paths, new or changed in `tree` since the copy was sent last, that the rules sent then
/// ignored or filtered and the project's rules no longer do: the guest may have changed the rules.
/// Paths withheld the last time stay withheld. `git` has the index of `tree`, `included` are
/// paths, also of directories, that the user wants to send. Throws support::Error.
std::vector<std::string> FindWithheld(const Project& project, const Git& git,
                                      const SideRepository& side, const std::string& tree,
                                      const std::vector<std::string>& included);

/// Keeps the paths for the next FindWithheld.
void SaveWithheld(const SideRepository& side, const std::vector<std::string>& paths);

}  // namespace copy
