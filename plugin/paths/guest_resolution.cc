#include "paths/guest_resolution.h"

#include <utility>
#include <vector>

#include "support/paths.h"

namespace paths {
namespace {

// The Linux kernel's limit (MAXSYMLINKS).
constexpr int kMaximumLinks = 40;

using guest::FileError;
using guest::FileErrorCode;
using guest::FileType;

/// The result of `look_up`; nullopt if the guest reports that the file is missing.
template <typename LookUp>
auto IfThere(const LookUp& look_up) -> std::optional<decltype(look_up())> {
  try {
    return look_up();
  } catch (const FileError& error) {
    if (error.code() == FileErrorCode::kNotFound) return std::nullopt;
    throw;
  }
}

GuestLocation MissingBelow(const std::string& existing, const std::string& base,
                           const std::vector<std::string>& rest, const std::string& shown) {
  std::string path = base;
  for (const std::string& component : rest) {
    if (component == ".") continue;
    // Only the target of a link can contain it. A missing directory has no parent.
    if (component == "..") {
      throw support::CallError(shown + " is a symbolic link through a directory that is missing");
    }
    path = support::JoinPath(path, component);
  }
  return {std::move(path), std::nullopt, existing};
}

/// Resolves a path that lacks more than its last component. Returns nullopt if the caller must
/// retry with `candidate`: the path with its first dangling link followed, or a path that has
/// appeared meanwhile.
std::optional<GuestLocation> ResolveMissing(std::string& candidate, const std::string& shown,
                                            guest::Guest& guest, const support::Context& context) {
  const auto attributes_of = [&](const std::string& path) {
    return IfThere([&] { return guest.LStat(path, context); });
  };
  std::vector<std::string> rest;
  std::optional<std::string> base;
  for (std::string ancestor = candidate; !base;) {
    if (ancestor == "/") throw FileError(FileErrorCode::kFailure, "resolve", shown, "");
    // Split by hand: the target of a link may end with a slash.
    const std::size_t slash = ancestor.rfind('/');
    if (slash + 1 < ancestor.size()) rest.insert(rest.begin(), ancestor.substr(slash + 1));
    ancestor = support::ParentPath(ancestor);
    base = IfThere([&] { return guest.RealPath(ancestor, context); });
  }
  const auto found = attributes_of(*base);
  if (!found) return MissingBelow(support::ParentPath(*base), *base, rest, shown);
  if (found->type != FileType::kDirectory) {
    throw support::CallError(shown + ": a component of this path is a file, not a directory");
  }
  if (rest.empty()) {  // the path ended with a slash, and has appeared
    candidate = *std::move(base);
    return std::nullopt;
  }
  std::string next = support::JoinPath(*base, rest.front());
  const auto next_found = attributes_of(next);
  if (!next_found) return MissingBelow(*base, *base, rest, shown);
  if (next_found->type == FileType::kSymlink) {
    const std::string target = guest.ReadLink(next, context);
    next = target.starts_with('/') ? target : support::JoinPath(*base, target);
  }
  for (std::size_t i = 1; i < rest.size(); ++i) next = support::JoinPath(next, rest[i]);
  candidate = std::move(next);
  return std::nullopt;
}

}  // namespace

GuestLocation ResolveInGuest(std::string path, std::optional<guest::RealFile> found,
                             const std::string& shown, guest::Guest& guest,
                             const support::Context& context) {
  for (int links = 0; links <= kMaximumLinks; ++links) {
    if (found) {
      const bool is_link = found->attributes && found->attributes->type == FileType::kSymlink;
      if (!is_link) {
        std::string parent = found->attributes ? "" : support::ParentPath(found->path);
        return {std::move(found->path), found->attributes, std::move(parent)};
      }
      path = std::move(found->path);  // the path became a link after it was resolved
    } else if (auto location = ResolveMissing(path, shown, guest, context)) {
      return *std::move(location);
    }
    found = IfThere([&] { return guest.FindRealFile(path, context); });
  }
  throw support::CallError(shown + " resolves to a loop of symbolic links");
}

}  // namespace paths
