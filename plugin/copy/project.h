// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "git/git.h"

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
  bool is_partial = false;  ///< a partial clone
  bool is_sparse = false;   ///< a sparse checkout
};

/// The top of the working tree that holds `directory`. Throws support::Error if there is none,
/// or git is too old.
std::filesystem::path FindTop(const std::filesystem::path& directory);

Project ReadProject(const std::filesystem::path& top, const Git& users);

inline constexpr const char* kPartialText =
    "This is a partial clone without some files of HEAD: git sparse-checkout disable";

/// The user's working tree as a commit.
struct Snapshot {
  std::string commit;                 ///< HEAD if the working tree has no changes
  std::vector<std::string> notes;     ///< lines for the user: what is not in it
  std::vector<std::string> withheld;  ///< see FindWithheld
};

/// Writes the working tree into the side repository. Changes nothing in the user's. `included`: see
/// FindWithheld. Throws support::Error.
Snapshot TakeSnapshot(const Project& project, const Git& users, const SideRepository& side,
                      const std::vector<std::string>& included);

/// More lines for the user, about the whole repository.
std::vector<std::string> ListNotes(const Project& project, const Git& users);

/// The paths that are a repository of their own on either side.
std::vector<std::string> GitLinks(const std::vector<git::RawChange>& changes);

}  // namespace copy
