// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exposure/notes.h"
#include "git/objects.h"

namespace copy {

using git::Git;

class SideRepository;

/// The user's repository.
struct Project {
  std::filesystem::path top;  ///< of its working tree
  std::filesystem::path objects;
  std::filesystem::path index;
  std::filesystem::path shallow;
  std::string format;  ///< "sha1" or "sha256"
  std::string head;    ///< the commit
  std::string head_tree;
  std::string head_date;  ///< as git takes it
  std::string branch;     ///< "detached" without one
  std::string user_name = "limactl-mcp";
  std::string user_email = "limactl-mcp@localhost";
  std::string excludes;           ///< lines of core.excludesFile, then of .git/info/exclude
  std::set<std::string> filters;  ///< that have a program in the settings, but git LFS
  bool is_partial = false;        ///< a partial clone
};

/// The current directory, links resolved, unless `project` is given. Throws support::Error if it is
/// gone, or is `/` or the user's home directory: an agent would get all of it.
std::filesystem::path FindProject(std::filesystem::path project = {});

/// The nearest directory above with a `.git`, found without git.
std::optional<std::filesystem::path> FindRepository(std::filesystem::path directory);

/// The top of the working tree of git that holds the current directory. Throws support::Error if
/// there is none, or it is as with FindProject.
std::string FindProjectTop();

Project ReadProject(const std::filesystem::path& top, const Git& users);

inline constexpr const char* kPartialText =
    "This is a partial clone without some files of HEAD: git sparse-checkout disable";

/// The user's working tree as a commit.
struct Snapshot {
  std::string commit = {};             ///< HEAD if the working tree has no changes
  exposure::Notes notes = {};          ///< what is not in it
  std::string rules = {};              ///< for RulesFile; empty if they have kept files from it
  std::vector<std::string> kept = {};  ///< the names of these, but for those that are lent
};

/// Writes the working tree into the side repository, without untracked files that are `lent`
/// (sorted). Changes nothing in the user's. Throws support::Error.
Snapshot TakeSnapshot(const Project& project, const Git& users, const SideRepository& side,
                      const std::vector<std::string>& lent);

/// Whether rules of the commit name files of git LFS; "--cached": of the index.
bool HasLargeFiles(const Git& git, const std::string& commit);

/// The paths that are a repository of their own on either side.
std::vector<std::string> GitLinks(const std::vector<git::RawChange>& changes);

}  // namespace copy
