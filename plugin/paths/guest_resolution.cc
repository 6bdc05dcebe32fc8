#include "paths/guest_resolution.h"

#include <set>
#include <utility>
#include <vector>

#include "support/paths.h"

namespace paths {
namespace {

// As many as the Linux kernel follows (MAXSYMLINKS).
constexpr int kMaximumLinks = 40;

using guest::FileError;
using guest::FileErrorCode;

class Resolution {
 public:
  Resolution(const std::string& shown, guest::Guest& guest, const support::Context& context,
             const FileFinder& find)
      : shown_(shown), guest_(guest), context_(context), find_(find) {}

  GuestLocation Resolve(std::string candidate) {
    std::set<std::string> seen;
    for (int links = 0; links <= kMaximumLinks && seen.insert(candidate).second; ++links) {
      std::optional<GuestLocation> found;
      tree_changed_ = false;
      if (auto real = FindRealFile(candidate)) {
        found = LookAt(std::move(*real), candidate);
      } else {
        found = ResolveMissing(candidate);
      }
      if (found) return *found;
      if (tree_changed_) seen.clear();  // coming here again is no loop
    }
    throw support::CallError(shown_ + " leads into a loop of symbolic links");
  }

 private:
  // Nothing when a link has appeared since the guest resolved the path: `candidate` is then that.
  std::optional<GuestLocation> LookAt(guest::RealFile real, std::string& candidate) {
    if (real.attributes && real.attributes->type == guest::FileType::kSymlink) {
      candidate = std::move(real.path);
      tree_changed_ = true;
      return std::nullopt;
    }
    std::string parent = real.attributes ? "" : support::ParentPath(real.path);
    return GuestLocation{std::move(real.path), real.attributes, std::move(parent)};
  }

  // More than the last component is missing. Nothing when a link must be followed: `candidate` is
  // then the path with the link replaced by its target.
  std::optional<GuestLocation> ResolveMissing(std::string& candidate) {
    std::vector<std::string> rest;
    std::optional<std::string> base;
    std::string ancestor = candidate;
    while (!base) {
      if (ancestor == "/") throw FileError(FileErrorCode::kFailure, "resolve", shown_, "");
      // By hand, since the target of a link need not be clean: it may end with a slash.
      const std::size_t slash = ancestor.rfind('/');
      if (slash + 1 < ancestor.size()) rest.insert(rest.begin(), ancestor.substr(slash + 1));
      ancestor = support::ParentPath(ancestor);
      base = RealPath(ancestor);
    }
    const auto base_attributes = LStat(*base);
    if (!base_attributes) return Missing(support::ParentPath(*base), *base, rest);
    if (base_attributes->type != guest::FileType::kDirectory) {
      throw support::CallError(shown_ + ": a component of this path is a file, not a directory");
    }
    if (rest.empty()) {  // a path with a slash at its end: it has appeared since
      tree_changed_ = true;
      candidate = std::move(*base);
      return std::nullopt;
    }
    std::string next = support::JoinPath(*base, rest.front());
    const auto next_attributes = LStat(next);
    if (!next_attributes) return Missing(*base, *base, rest);
    if (next_attributes->type == guest::FileType::kSymlink) {
      const std::string target = guest_.ReadLink(next, context_);
      next = target.starts_with('/') ? target : support::JoinPath(*base, target);
    } else {
      tree_changed_ = true;  // it has appeared since the guest called it missing
    }
    for (std::size_t i = 1; i < rest.size(); ++i) next = support::JoinPath(next, rest[i]);
    candidate = std::move(next);
    return std::nullopt;
  }

  [[nodiscard]] GuestLocation Missing(std::string existing, const std::string& base,
                                      const std::vector<std::string>& rest) const {
    std::string path = base;
    for (const std::string& component : rest) {
      if (component == ".") continue;
      // Only a link's target can hold it; no directory that is not there has a parent.
      if (component == "..") {
        throw support::CallError(shown_ +
                                 " is a symbolic link through a directory that does not exist");
      }
      path = support::JoinPath(path, component);
    }
    return {std::move(path), std::nullopt, std::move(existing)};
  }

  /// What the guest answers; nothing where it knows no such file.
  template <typename Ask>
  static auto IfThere(const Ask& ask) -> std::optional<decltype(ask())> {
    try {
      return ask();
    } catch (const FileError& error) {
      if (error.code() == FileErrorCode::kNotFound) return std::nullopt;
      throw;
    }
  }

  std::optional<guest::RealFile> FindRealFile(const std::string& path) {
    return IfThere([&] { return find_(path); });
  }
  std::optional<std::string> RealPath(const std::string& path) {
    return IfThere([&] { return guest_.RealPath(path, context_); });
  }
  std::optional<guest::FileAttributes> LStat(const std::string& path) {
    return IfThere([&] { return guest_.LStat(path, context_); });
  }

  const std::string& shown_;
  guest::Guest& guest_;
  const support::Context& context_;
  const FileFinder& find_;
  bool tree_changed_ = false;  ///< between two looks of the last step
};

}  // namespace

GuestLocation ResolveInGuest(const std::string& path, const std::string& shown, guest::Guest& guest,
                             const support::Context& context, const FileFinder& find) {
  try {
    return Resolution(shown, guest, context, find).Resolve(path);
  } catch (const FileError& error) {
    throw FileError(error.code(), "resolve", shown, error.detail());
  }
}

}  // namespace paths
