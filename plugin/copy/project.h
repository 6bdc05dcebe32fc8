// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

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
  std::filesystem::path git_directory;  ///< of this working tree
  std::string format;                   ///< "sha1" or "sha256"
  std::string head;                     ///< the commit
  std::string head_tree;
  std::string head_date;  ///< as git takes it
  std::string branch;     ///< "detached" without one
  std::string user_name = "limactl-mcp";
  std::string user_email = "limactl-mcp@localhost";
  std::string excludes;           ///< lines of core.excludesFile, then of .git/info/exclude
  std::set<std::string> filters;  ///< that have a program in the settings, but git LFS
  bool is_partial = false;        ///< a partial clone
  bool is_sparse = false;         ///< a sparse checkout
};

/// The top of the working tree that holds `directory`. Throws support::Error if there is none,
/// or git is too old.
std::filesystem::path FindTop(const std::filesystem::path& directory);

Project ReadProject(const std::filesystem::path& top, const Git& users);

inline constexpr const char* kPartialText =
    "This is a partial clone without some files of HEAD: git sparse-checkout disable";

/// The user's working tree as a commit.
struct Snapshot {
  Git git;                              ///< the user's, with its index and objects
  std::string commit = {};              ///< HEAD if the working tree has no changes
  std::vector<std::string> notes = {};  ///< lines for the user: what is not in it
  std::string rules = {};               ///< for RulesFile; empty if they have kept files from it
};

/// Writes the working tree into the side repository. Changes nothing in the user's. Throws
/// support::Error.
Snapshot TakeSnapshot(const Project& project, const Git& users, const SideRepository& side);

/// More lines for the user, about the whole repository.
std::vector<std::string> ListNotes(const Project& project, const Git& git);

/// The paths that are a repository of their own on either side.
std::vector<std::string> GitLinks(const std::vector<git::RawChange>& changes);

}  // namespace copy
