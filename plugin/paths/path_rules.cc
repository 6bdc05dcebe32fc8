#include "paths/path_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "paths/guest_resolution.h"
#include "paths/path_texts.h"
#include "paths/protected_settings.h"
#include "support/errors.h"
#include "support/paths.h"

namespace paths {
namespace {

using support::CallError;
using support::JoinPath;
using support::PathBelow;

/// A root, and what follows its name in the path.
struct Match {
  const Root* root = nullptr;
  std::size_t length = 0;
  std::string rest;

  // The first of equally long ones stays.
  void Offer(const Root& candidate, const std::string& spelling, std::string_view path) {
    if (root != nullptr && spelling.size() <= length) return;
    if (const auto below = PathBelow(path, spelling)) {
      *this = {&candidate, spelling.size(), std::string(*below)};
    }
  }
};

void OfferHostNames(Match& match, const std::vector<Root>& roots, std::string_view path) {
  for (const Root& root : roots) match.Offer(root, root.host, path);
  for (const Root& root : roots) {
    for (const std::string& alias : root.host_aliases) match.Offer(root, alias, path);
  }
}

Match MatchAnyName(const std::vector<Root>& roots, std::string_view path) {
  Match match;
  OfferHostNames(match, roots, path);
  for (const Root& root : roots) match.Offer(root, root.guest, path);
  return match;
}

// The root that a resolved path lies in; `resolved` holds the roots' own resolved paths.
const Root* Innermost(const std::string& guest_path, const std::vector<Root>& roots,
                      const std::vector<std::string>& resolved) {
  const Root* best = nullptr;
  std::size_t length = 0;
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    if (!PathBelow(guest_path, resolved[i])) continue;
    const Root& root = roots[i];
    const bool longer = best == nullptr || resolved[i].size() > length;
    // Two names of one directory: the stricter one counts.
    const bool stricter = !longer && resolved[i].size() == length && !root.writable;
    if (!longer && !stricter) continue;
    best = &root;
    length = resolved[i].size();
  }
  return best;
}

std::optional<std::string> RealPath(const std::string& path, guest::Guest& guest,
                                    const support::Context& context) {
  try {
    return guest.RealPath(path, context);
  } catch (const guest::FileError&) {
    return std::nullopt;  // not there (yet), or not to be looked at
  }
}

/// Whether `host_path` is one of the host's names for what follows as `rest` in the root.
bool IsHostName(const std::string& host_path, const Root& root, std::string_view rest) {
  const auto is_it = [&](const std::string& name) { return JoinPath(name, rest) == host_path; };
  return is_it(root.host) || std::any_of(root.host_aliases.begin(), root.host_aliases.end(), is_it);
}

/// `mount` is the innermost one above what `root` has as `guest_path`; it may be null.
void RequireUncovered(const std::string& host_path, const std::string& guest_path, const Root& root,
                      const Root* mount) {
  if (mount == nullptr || mount->guest.size() <= root.guest.size()) return;
  const auto rest = PathBelow(guest_path, mount->guest);
  if (rest && !IsHostName(host_path, *mount, *rest)) {
    throw CallError(CoveredText(host_path, *mount, JoinPath(mount->host, *rest)));
  }
}

}  // namespace

PathRules::PathRules(Options options) : options_(std::move(options)) {
  for (const Root& mount : options_.mounts) mount_points_.push_back(mount.guest);
}

ResolvedPath PathRules::Resolve(std::string_view path, Access access, guest::Guest& guest,
                                const support::Context& context) const {
  const std::string given = Clean(path);
  const Match match = MatchAnyName(options_.roots, given);
  if (match.root == nullptr) throw CallError(OutsideText(given, options_));
  ResolvedPath resolved;
  resolved.host = JoinPath(match.root->host, match.rest);

  const std::string wanted = JoinPath(match.root->guest, match.rest);
  const Root* named_mount = MountAbove(wanted, mount_points_);
  bool is_first = true;
  GuestLocation location =
      ResolveInGuest(wanted, resolved.host, guest, context, [&](const std::string& candidate) {
        return std::exchange(is_first, false)
                   ? LookFirst(candidate, access, named_mount, resolved.host, resolved.directory,
                               guest, context)
                   : guest.FindRealFile(candidate, context);
      });
  if (given != wanted) RequireUncovered(resolved.host, wanted, *match.root, named_mount);
  auto roots = CachedRoots();
  if (roots && !LinksLeadThereStill(*roots, guest, context)) roots = nullptr;
  const Root* root = roots ? RootAbove(location.path, *roots) : nullptr;
  if (root == nullptr || !IsFound(*root, *roots)) {
    roots = ResolveRoots(guest, context);
    root = RootAbove(location.path, *roots);
  }
  if (root == nullptr) throw CallError(LeadsOutsideText(resolved.host, location.path, options_));
  const Root* mount = MountAbove(location.path, roots->mounts);  // null in an allowed path outside
  if (access == Access::kWrite) {
    if (!root->writable) throw CallError(ReadOnlyText(resolved.host, *root, options_));
    if (mount != nullptr && !mount->writable) {
      throw CallError(ReadOnlyText(resolved.host, *mount, options_));
    }
    // By both names: either of them may hold the link.
    if (!options_.allow_settings && !root->is_guests_own &&
        (IsProtectedSetting(match.rest) ||
         IsProtectedSetting(BelowRoot(location.path, *root, *roots)))) {
      throw CallError(ProtectedSettingText(resolved.host));
    }
  }
  if (access == Access::kWrite && !location.attributes &&
      RootAbove(location.existing_parent, *roots) != root) {
    throw CallError(resolved.host + " cannot be made: the directory " + root->host +
                    " is not there in the guest (" + root->guest + " does not exist)");
  }
  if (mount != named_mount) RequireMounted(mount, resolved.host, guest, context);
  if (location.path != wanted) resolved.directory = nullptr;
  if (mount != nullptr && options_.mount_check) {
    resolved.stale_note = StaleNote(mount, location.path, *roots);
  }
  resolved.guest = std::move(location.path);
  resolved.attributes = location.attributes;
  resolved.existing_parent = std::move(location.existing_parent);
  return resolved;
}

std::string PathRules::ToHost(std::string_view guest_path) const {
  Match match;
  if (const auto resolved = CachedRoots()) {
    for (std::size_t i = 0; i < resolved->roots.size(); ++i) {
      match.Offer(options_.roots[i], resolved->roots[i], guest_path);
    }
  }
  for (const Root& root : options_.roots) match.Offer(root, root.guest, guest_path);
  return match.root == nullptr ? std::string(guest_path) : JoinPath(match.root->host, match.rest);
}

std::string PathRules::DefaultDirectory() const {
  if (!options_.working_directory.empty()) {
    std::string directory = support::CleanPath(options_.working_directory);
    Match match;
    OfferHostNames(match, options_.roots, directory);
    if (match.root != nullptr) return directory;
  }
  if (options_.roots.size() == 1) return options_.roots.front().host;
  throw CallError(
      "no path was given, and the server's working directory is not one that may be "
      "used; give one of: " +
      ListRoots(options_));
}

std::string PathRules::Clean(std::string_view path) const {
  if (path.empty()) {
    throw CallError("the path is empty: expected an absolute path in one of: " +
                    ListRoots(options_));
  }
  if (path.find('\0') != std::string_view::npos) {
    throw CallError(
        "the path holds a NUL byte, which no file name can: expected an absolute path "
        "in one of: " +
        ListRoots(options_));
  }
  if (path.front() == '/') return support::CleanPath(path);

  std::string text = std::string(path) + " is relative: expected an absolute path";
  try {
    text += ", such as " + support::CleanPath(JoinPath(DefaultDirectory(), path));
  } catch (const CallError&) {
    text += " in one of: " + ListRoots(options_);  // there is nothing to join it to
  }
  throw CallError(text);
}

const Root* PathRules::RootAbove(const std::string& guest_path,
                                 const ResolvedRoots& resolved) const {
  return Innermost(guest_path, options_.roots, resolved.roots);
}

bool PathRules::IsFound(const Root& root, const ResolvedRoots& resolved) const {
  return resolved.root_found[static_cast<std::size_t>(&root - options_.roots.data())];
}

std::string_view PathRules::BelowRoot(std::string_view guest_path, const Root& root,
                                      const ResolvedRoots& resolved) const {
  const auto place = static_cast<std::size_t>(&root - options_.roots.data());
  return PathBelow(guest_path, resolved.roots[place]).value_or("");
}

const Root* PathRules::MountAbove(const std::string& guest_path,
                                  const std::vector<std::string>& mount_paths) const {
  return Innermost(guest_path, options_.mounts, mount_paths);
}

void PathRules::RequireMounted(const Root* mount, const std::string& shown, guest::Guest& guest,
                               const support::Context& context) const {
  if (mount == nullptr || !options_.mount_check) return;
  if (!options_.mount_check->Ask(PlaceOf(*mount), guest, context).mounted) {
    throw CallError(NotMountedText(shown, *mount, options_));
  }
}

std::size_t PathRules::PlaceOf(const Root& mount) const {
  return static_cast<std::size_t>(&mount - options_.mounts.data());
}

guest::RealFile PathRules::LookFirst(const std::string& path, Access access, const Root* mount,
                                     const std::string& shown,
                                     std::shared_ptr<const guest::OpenHandle>& directory,
                                     guest::Guest& guest, const support::Context& context) const {
  const bool lists = access == Access::kList;
  std::vector<guest::Request> requests{guest::ask::RealPath{path}};
  if (lists) {
    requests.emplace_back(guest::ask::OpenDirectory{path});
  } else {
    requests.emplace_back(guest::ask::LStat{path});
  }
  const bool asks_for_mount = mount != nullptr && options_.mount_check;
  if (asks_for_mount) {
    requests.insert(requests.begin(), options_.mount_check->Question(PlaceOf(*mount)));
  }
  std::vector<guest::Reply> replies = guest.AskAll(std::move(requests), context);
  guest::Reply& second = replies.back();
  if (lists && !second.failure) {
    directory = std::make_shared<const guest::OpenHandle>(guest, second.As<guest::Handle>());
  }
  if (asks_for_mount &&
      !options_.mount_check->Judge(PlaceOf(*mount), std::move(replies.front()), guest, context)
           .mounted) {
    throw CallError(NotMountedText(shown, *mount, options_));
  }
  guest::RealFile found{replies[replies.size() - 2].As<std::string>(), std::nullopt};
  if (directory && found.path == path) {
    found.attributes.emplace();
    found.attributes->type = guest::FileType::kDirectory;
    return found;
  }
  if (lists || found.path != path) {
    second = std::move(guest.AskAll({guest::ask::LStat{found.path}}, context).front());
  }
  if (!second.Is(guest::FileErrorCode::kNotFound)) {
    found.attributes = second.As<guest::FileAttributes>();
  }
  return found;
}

std::string PathRules::StaleNote(const Root* mount, const std::string& guest_path,
                                 const ResolvedRoots& resolved) const {
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    const bool concerned =
        &options_.mounts[i] == mount || PathBelow(resolved.mounts[i], guest_path).has_value();
    if (concerned && options_.mount_check->LastKnown(i).reads_may_be_stale) {
      return StaleText(options_.mounts[i], options_);
    }
  }
  return "";
}

std::string PathRules::MissingNote(const std::string& guest_path, guest::Guest& guest,
                                   const support::Context& context) const {
  const auto resolved = CachedRoots();
  if (!options_.mount_check || !resolved) return "";
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    const bool lies_below =
        resolved->mounts[i] != guest_path && PathBelow(resolved->mounts[i], guest_path);
    if (!lies_below || options_.mount_check->LastKnown(i).mounted) continue;
    if (!options_.mount_check->Ask(i, guest, context).mounted) {
      return MissingText(options_.mounts[i]);
    }
  }
  return "";
}

bool PathRules::IsMount(const Root& root) const {
  if (options_.mounts.empty()) return !root.is_guests_own;
  return std::any_of(options_.mounts.begin(), options_.mounts.end(), [&root](const Root& mount) {
    return mount.host == root.host && mount.guest == root.guest;
  });
}

std::shared_ptr<const PathRules::ResolvedRoots> PathRules::CachedRoots() const {
  const std::scoped_lock lock(mutex_);
  return resolved_roots_;
}

bool PathRules::LinksLeadThereStill(const ResolvedRoots& resolved, guest::Guest& guest,
                                    const support::Context& context) const {
  std::set<std::string> asked;  // most roots are mounts too
  const auto leads_there = [&](const Root& mount, const std::string& path) {
    return path == mount.guest || !asked.insert(mount.guest).second ||
           RealPath(mount.guest, guest, context) == path;
  };
  for (std::size_t i = 0; i < options_.roots.size(); ++i) {
    const Root& root = options_.roots[i];
    const bool may_change = root.pinned.empty() && IsMount(root);
    if (may_change && !leads_there(root, resolved.roots[i])) return false;
  }
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    if (!leads_there(options_.mounts[i], resolved.mounts[i])) return false;
  }
  return true;
}

std::shared_ptr<const PathRules::ResolvedRoots> PathRules::ResolveRoots(
    guest::Guest& guest, const support::Context& context) const {
  std::map<std::string, std::optional<std::string>> asked;  // most roots are mounts too
  const auto real_path = [&](const std::string& path) {
    const auto [entry, is_new] = asked.try_emplace(path);
    if (is_new) entry->second = RealPath(path, guest, context);
    return entry->second;
  };
  const auto before = CachedRoots();
  auto resolved = std::make_shared<ResolvedRoots>();
  for (std::size_t i = 0; i < options_.roots.size(); ++i) {
    const Root& root = options_.roots[i];
    const bool keep = before && before->root_found[i] && !IsMount(root);
    auto found = !root.pinned.empty() ? root.pinned
                 : keep               ? before->roots[i]
                                      : real_path(root.guest);
    if (found && root.pinned.empty() && options_.pin) found = options_.pin(root, *found);
    resolved->root_found.push_back(found.has_value());
    resolved->roots.push_back(found.value_or(root.guest));
  }
  for (const Root& mount : options_.mounts) {
    resolved->mounts.push_back(real_path(mount.guest).value_or(mount.guest));
  }
  const std::scoped_lock lock(mutex_);
  resolved_roots_ = resolved;
  return resolved;
}

}  // namespace paths
