// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace exposure {

/// A place on the way of a path. No link is above it.
struct Step {
  std::string path;
  struct stat status {};  ///< from lstat
  int error = 0;          ///< of lstat. What follows is taken as it is written
  bool is_end = false;    ///< what the whole path leads to

  [[nodiscard]] bool IsLink() const { return error == 0 && S_ISLNK(status.st_mode); }
};

/// Goes along `names`, absolute or from a directory that has no links on its way, name by name and
/// through links. Calls `visit` with each place until it returns false, and at most for
/// support::kMaxLinks links.
void Walk(const std::string& directory, const std::string& names,
          const std::function<bool(const Step&)>& visit);

/// The links in a directory; none if it cannot be read.
std::vector<std::string> LinksIn(const std::string& directory);

/// Begins Change::key for the two reasons below.
inline constexpr const char* kPathKey = "PATH";
inline constexpr const char* kHomeKey = "HOME";

/// Paths by which this host may run or obey files of any project, each with its reason: the
/// directories of `search_path` and the links in them, and links in the home directory and its
/// `.config`.
std::vector<std::pair<std::string, std::string>> WaysOfHost(const std::string& search_path);

}  // namespace exposure
