// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "paths/path_rules.h"
#include "support/errors.h"
#include "support/paths.h"

namespace paths {
namespace {

using guest::FileErrorCode;
using guest::FileType;
using support::Error;

/// Follows the components of `path` up to its end, to one that is missing, or to the first link:
/// then `path` becomes that link's target with the rest of the path, and the result is nullopt.
std::optional<GuestLocation> FollowToLink(std::string& path, const std::string& shown,
                                          guest::Guest& guest, const support::Context& context) {
  std::vector<std::string> names{"/"};
  std::vector<std::string> paths{"/"};  // each with the names before it
  std::istringstream components(path);
  for (std::string name; std::getline(components, name, '/');) {
    if (name.empty() || name == ".") continue;
    // As text, since no link comes before it.
    paths.push_back(name == ".." ? support::ParentPath(paths.back())
                                 : support::JoinPath(paths.back(), name));
    names.push_back(std::move(name));
  }
  std::vector<guest::Request> requests;
  for (const std::string& each : paths) requests.push_back(guest::Request::LStat(each));
  std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);

  for (std::size_t i = 0;; ++i) {
    if (i > 0 && replies[i].Is(FileErrorCode::kNotFound)) {
      // Only the target of a link can contain it. A missing directory has no parent.
      if (std::find(names.begin(), names.end(), "..") != names.end())
        throw Error("{} is a symbolic link through a directory that is missing", shown);
      return GuestLocation{paths.back(), std::nullopt, paths[i - 1]};
    }
    const auto attributes = replies[i].As<guest::FileAttributes>();
    if (attributes.type == FileType::kSymlink) {
      path = guest.ReadLink(paths[i], context);
      if (!path.starts_with('/')) path = support::JoinPath(support::ParentPath(paths[i]), path);
      while (++i < names.size()) path += "/" + names[i];
      return std::nullopt;
    }
    if (i + 1 == paths.size()) return GuestLocation{paths[i], attributes};
    if (attributes.type != FileType::kDirectory)
      throw Error("{}: a component of this path is a file, not a directory", shown);
  }
}

}  // namespace

GuestLocation ResolveInGuest(std::string path, std::optional<GuestLocation> found,
                             const std::string& shown, guest::Guest& guest,
                             const support::Context& context) {
  if (found && !found->attributes) {
    std::string parent = support::ParentPath(found->guest);
    return {std::move(found->guest), std::nullopt, std::move(parent)};
  }
  if (found && found->attributes->type != FileType::kSymlink) {
    return {std::move(found->guest), found->attributes};
  }
  if (found) path = std::move(found->guest);  // it became a link after it was resolved
  for (int links = 0; links <= support::kMaxLinks; ++links) {
    if (auto location = FollowToLink(path, shown, guest, context)) return *std::move(location);
  }
  throw Error("{} resolves to a loop of symbolic links", shown);
}

}  // namespace paths
