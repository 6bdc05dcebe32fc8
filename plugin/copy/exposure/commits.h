// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exposure/report.h"
#include "git/objects.h"
#include "paths/host_programs.h"

/// Reports on changes that the guest may have planted in the commits of a copy.
namespace exposure {

struct CommitChanges {
  std::vector<Change> list;
  bool is_cut = false;         ///< there is more than can be examined
  git::TreeEntries tree = {};  ///< of the second commit, unless nothing differs
};

/// The differences between two commits of `git`; the guest may have made the second. With
/// `between`, also paths that only a commit in between has changed: a checkout of that one, such as
/// in a rebase, brings them. Then what the commits of other branches have changed: `others` has
/// their names by their commits. `tree`: that of the second commit, if it is known. `patch` gets a
/// patch of the differences. Of `watched` ids, each path that has had them counts. Throws
/// support::Error.
CommitChanges ReadCommits(const git::Git& git, const std::string& from, const std::string& to,
                          bool between, const std::map<std::string, std::string>& others = {},
                          git::TreeEntries tree = {}, const git::PatchSink& patch = {},
                          const std::set<std::string>& watched = {});

/// Reads the configuration of the user's git, which may obey files of the project at `top`.
/// `branch`: the branch that will have the change; may be empty.
Report ReportOnCommits(const CommitChanges& changes, const paths::HostPrograms& programs,
                       const git::Git& users, const std::string& top, const std::string& branch);

}  // namespace exposure
