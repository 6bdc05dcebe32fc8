// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "copy/project.h"
#include "copy/side_repository.h"

namespace copy {

/// What says which files git ignores or filters: an id of .gitignore, .gitattributes and
/// Project::excludes, then "FILTER PATH" for each file of Project::filters. The agent may change
/// them, so that the next send would have what the earlier ones kept from it.
using Rules = std::vector<std::string>;

/// `git` has the index of a snapshot.
Rules ReadRules(const Project& project, const Git& git);

/// The rules of the last send that left nothing out, each with a NUL. It outlives the copy.
std::filesystem::path RulesFile(const SideRepository& side);

/// If the id is not that of RulesFile: files that are not in the user's index and were not sent
/// before, and changed ones that are no longer filtered. `changes`: from the snapshot to the index.
std::vector<std::string> KeptByOldRules(const SideRepository& side, const Rules& now,
                                        const std::vector<git::RawChange>& changes);

}  // namespace copy
