// SPDX-License-Identifier: Apache-2.0
#include "paths/path_rules.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>

#include "paths/path_texts.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"
#include "support/words.h"

namespace paths {
namespace {

using Options = PathRules::Options;
using support::Error;
using support::Format;
using support::JoinPath;

/// If two roots are the same directory, the read-only one wins.
DirectoryIndex StrictestFirst(const std::vector<Root>& roots,
                              const std::vector<std::string>& directories) {
  DirectoryIndex index;
  for (const bool writable : {false, true}) {
    for (std::size_t i = 0; i < roots.size(); ++i) {
      if (roots[i].writable == writable) index.Add(directories[i], i);
    }
  }
  return index;
}

bool IsHostName(const std::string& host_path, const Root& root, const std::string& rest) {
  return JoinPath(root.host, rest) == host_path ||
         (!root.resolved_host.empty() && JoinPath(root.resolved_host, rest) == host_path);
}

/// The path of a `file:` URI (RFC 8089). Other text stays as it is.
std::string WithoutFileScheme(std::string_view text) {
  if (!text.starts_with("file:/")) return std::string(text);
  text.remove_prefix(text.starts_with("file://localhost/") ? 16 : 5);
  std::string path;
  while (!text.empty()) {
    unsigned byte = 0;
    const bool is_escape =
        text.size() > 2 && text[0] == '%' &&
        std::from_chars(text.data() + 1, text.data() + 3, byte, 16).ptr == text.data() + 3;
    path += is_escape ? static_cast<char>(byte) : text[0];
    text.remove_prefix(is_escape ? 3 : 1);
  }
  return path;
}

std::string RealPathOfRootOption(const std::string& path, const std::string& shown,
                                 guest::Guest& guest, const support::Context& context) {
  try {
    return guest.RealPath(path, context);
  } catch (const guest::FileError& error) {
    throw Error("{} cannot be used in the guest: {}; create that directory or choose another",
                shown, error.what());
  }
}

}  // namespace

PathRules::PathRules(Options options) : options_(std::move(options)) {
  const std::vector<Root>& roots = options_.roots;
  if (options_.mounts.empty()) {
    std::copy_if(roots.begin(), roots.end(), std::back_inserter(options_.mounts),
                 [](const Root& root) { return !root.is_guests_own; });
  }
  names_ = host_names_ = IndexByHostPath(roots);
  // The first of equal names wins: the host's.
  for (std::size_t i = 0; i < roots.size(); ++i) names_.Add(roots[i].guest, i);
  std::vector<std::string> mount_points;
  for (const Root& mount : options_.mounts) mount_points.push_back(mount.guest);
  mount_points_ = StrictestFirst(options_.mounts, mount_points);
}

// The steps of Resolve.

ResolvedPath PathRules::Resolve(std::string_view path, Access access, guest::Guest& guest,
                                const support::Context& context) const {
  const Target target = Translate(path);
  ResolvedPath resolved = LookUp(target, access, guest, context);
  const DirectoriesPointer directories = CurrentDirectories(resolved.guest, guest, context);
  if (!directories->roots.Find(resolved.guest)) {
    throw Error(OutsideText(Format("{} resolves to {} in the guest,", target.host, resolved.guest),
                            options_));
  }
  const auto match = directories->mount_index.Find(resolved.guest);
  const MountNumber mount = match ? MountNumber(match->value) : std::nullopt;
  RequireNotLimas(target, resolved.guest, access, *directories);
  if (access == Access::kWrite) {
    RequireWritable(target, resolved, mount, *directories);
    RequireUnprotected(target, resolved.guest, *directories, guest, context);
  }
  if (mount != target.mount && MustCheck(mount, access)) {  // a link points into another mount
    RequireMounted(*mount, options_.mount_check->Check(*mount, guest, context), target.host);
  }
  if (mount) resolved.reads_may_be_stale = options_.mounts[*mount].reads_may_be_stale;
  return resolved;
}

PathRules::Target PathRules::Translate(std::string_view path) const {
  const std::string given = Clean(path);
  const auto match = names_.Find(given);
  if (!match) throw Error(OutsideText(Format("{} is", given), options_));
  const Root& root = options_.roots[match->value];
  Target target;
  target.host = JoinPath(root.host, match->rest);
  target.guest = JoinPath(root.guest, match->rest);
  target.below_root = match->rest;
  const auto mount_match = mount_points_.Find(target.guest);
  if (!mount_match) return target;
  target.mount = mount_match->value;
  const Root& mount = options_.mounts[*target.mount];
  const bool is_nested = mount.guest.size() > root.guest.size();
  const bool named_by_host = given != target.guest;
  if (is_nested && named_by_host && !IsHostName(target.host, mount, mount_match->rest)) {
    throw Error(CoveredText(target.host, mount, JoinPath(mount.host, mount_match->rest)));
  }
  return target;
}

// One round trip, although the answers belong together: the path as the guest resolves it, what is
// there, and the file system of its mount. The guest answers in this order, and a link may appear
// in between. So the second reply counts only if the path resolved to itself; otherwise what it
// resolved to is looked up once more, and the directory that was opened is closed. The mount is
// checked before anything is made of the other replies: without it they are about an ordinary
// directory beneath. kNotFound decides nothing yet: OpenSSH also replies it for a loop of links,
// and below a file.
ResolvedPath PathRules::LookUp(const Target& target, Access access, guest::Guest& guest,
                               const support::Context& context) const {
  const std::string& path = target.guest;
  const bool lists = access == Access::kList;
  ResolvedPath resolved;
  resolved.host = target.host;
  std::vector<guest::Request> requests{
      guest::Request::RealPath(path),
      lists ? guest::Request::OpenDirectory(path) : guest::Request::LStat(path)};
  const bool must_check = MustCheck(target.mount, access);
  if (must_check) {
    requests.push_back(options_.mount_check->StatusRequest(*target.mount));
  }
  std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);
  if (lists && !replies[1].failure) {
    resolved.directory =
        std::make_shared<const guest::OpenFile>(guest, replies[1].As<guest::Handle>());
  }
  const bool is_resolved = !replies[0].failure && replies[0].As<std::string>() == path;
  if (!is_resolved) resolved.directory = nullptr;  // closes it: it may be another directory
  if (must_check) {
    RequireMounted(
        *target.mount,
        options_.mount_check->UpdateFrom(*target.mount, std::move(replies[2]), guest, context),
        target.host);
  }
  try {
    std::optional<GuestLocation> found;
    if (!replies[0].Is(guest::FileErrorCode::kNotFound)) {
      found.emplace(GuestLocation{replies[0].As<std::string>(), std::nullopt});
      if (resolved.directory) {
        found->attributes.emplace().type = guest::FileType::kDirectory;
      } else {
        if (lists || !is_resolved) {
          replies[1] = guest.Execute(guest::Request::LStat(found->guest), context);
        }
        if (!replies[1].Is(guest::FileErrorCode::kNotFound)) {
          found->attributes = replies[1].As<guest::FileAttributes>();
        }
      }
    }
    static_cast<GuestLocation&>(resolved) =
        ResolveInGuest(path, std::move(found), target.host, guest, context);
    return resolved;
  } catch (const guest::FileError& error) {
    throw guest::FileError(error.code(), "resolve", target.host, error.detail());
  }
}

bool PathRules::MustCheck(MountNumber mount, Access access) const {
  if (!mount || !options_.mount_check) return false;
  const MountState last = options_.mount_check->LastKnown(*mount);
  return access == Access::kWrite || !last.mounted || last.may_vanish;
}

void PathRules::RequireMounted(std::size_t mount, MountState state,
                               const std::string& shown) const {
  if (!state.mounted) throw Error(NotMountedText(shown, options_.mounts[mount], options_));
}

void PathRules::RequireWritable(const Target& target, const GuestLocation& location,
                                MountNumber mount, const Directories& directories) const {
  const auto match = directories.roots.Find(location.guest);
  const Root& root = options_.roots[match->value];
  if (!root.writable) throw Error(ReadOnlyText(target.host, root, options_));
  if (mount && !options_.mounts[*mount].writable) {
    throw Error(ReadOnlyText(target.host, options_.mounts[*mount], options_));
  }
  if (location.attributes) return;
  const auto parent = directories.roots.Find(location.existing_parent);
  if (!parent || parent->value != match->value) {
    throw Error(
        "{} cannot be created: the directory {} is missing in the guest ({} does not exist)",
        target.host, root.host, root.guest);
  }
}

void PathRules::RequireNotLimas(const Target& target, const std::string& guest_path, Access access,
                                const Directories& directories) const {
  const auto match = directories.roots.Find(guest_path);
  const Root& root = options_.roots[match->value];
  if (options_.lima_home.empty() || options_.allow_settings || root.is_guests_own) return;
  const std::string& host = root.resolved_host.empty() ? root.host : root.resolved_host;
  // The host may ignore case.
  const std::string path = support::LowerCase(JoinPath(host, match->rest));
  const auto below = support::PathBelow(path, support::LowerCase(options_.lima_home));
  if (below && access != Access::kWrite && *below == "_config/user")
    throw Error("{} is not read: it is the private key of all Lima's instances", target.host);
  if (!below || access != Access::kWrite) return;
  throw Error(ProtectedText(target.host, {.patterns = {},
                                          .run_by = paths::RunBy::kLooking,
                                          .program = "Lima",
                                          .reason = "its instances, settings and keys"}));
}

void PathRules::RequireUnprotected(const Target& target, const std::string& guest_path,
                                   const Directories& directories, guest::Guest& guest,
                                   const support::Context& context) const {
  const auto root = directories.roots.Find(guest_path);
  if (options_.allow_settings || options_.roots[root->value].is_guests_own) return;
  std::vector<guest::Request> heads;
  const paths::HostProgram* with_head = nullptr;
  const auto check = [&](std::string_view path, std::string_view below_root) {
    path.remove_suffix(below_root.size());
    // Each directory above may be a bare repository.
    for (std::size_t start = 0;; start = below_root.find('/', start) + 1) {
      const std::string head =
          std::string(path) + std::string(below_root.substr(0, start)) + "HEAD";
      for (const auto* row : options_.host_programs.Match(below_root.substr(start))) {
        if (row->writing == paths::Writing::kRefused) {
          throw Error(ProtectedText(target.host, *row));
        }
        if (row->writing == paths::Writing::kAllowed) continue;
        with_head = row;
        heads.emplace_back(guest::Request::LStat(head));
      }
      if (below_root.find('/', start) == std::string_view::npos) break;
    }
  };
  // Check both names: an agent may read either.
  check(target.guest, target.below_root);
  if (guest_path != target.guest) check(guest_path, root->rest);
  if (heads.empty()) return;
  for (guest::Reply& reply : guest.RoundTrip(heads, context)) {
    if (reply.failure) continue;
    if (reply.As<guest::FileAttributes>().type == guest::FileType::kDirectory) continue;
    throw Error(ProtectedText(target.host, *with_head));
  }
}

std::string PathRules::Clean(std::string_view given) const {
  const std::string path = WithoutFileScheme(given);
  if (path.starts_with('/') && path.find('\0') == std::string::npos) {
    return support::CleanPath(path);
  }
  const std::string choice = Format(" in one of: {}", DescribeRoots(options_));
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw Error("the path {}: expected an absolute path{}",
                path.empty() ? "is empty" : "contains a NUL byte", choice);
  }
  // Neither a home directory, a variable, a URI, a drive nor a quoted path is meant as a name.
  const bool is_name = std::string_view("~$%<\"'`\\ ").find(path.front()) == std::string::npos &&
                       path.substr(0, path.find('/')).find(':') == std::string::npos;
  std::string proposed;
  try {
    proposed = support::CleanPath(JoinPath(DefaultDirectory(), path));
  } catch (const Error&) {  // there is none
  }
  throw Error("{} is relative: expected an absolute path{}", path,
              is_name && names_.Find(proposed) ? Format(", such as {}", proposed) : choice);
}

std::string PathRules::DefaultDirectory() const {
  if (!options_.working_directory.empty()) {
    std::string directory = support::CleanPath(options_.working_directory);
    if (host_names_.Find(directory)) return directory;
  }
  if (options_.roots.size() == 1) return options_.roots.front().host;
  throw Error(
      "path is missing, and the server's working directory is outside the directories "
      "that may be used; pass one of: {}",
      DescribeRoots(options_));
}

std::string PathRules::ToHost(std::string_view guest_path) const {
  const DirectoriesPointer directories = LastDirectories();
  const auto match = directories ? directories->roots.Find(guest_path) : std::nullopt;
  if (!match) return std::string(guest_path);
  return JoinPath(options_.roots[match->value].host, match->rest);
}

std::vector<std::string> PathRules::RootsInGuest() const {
  const DirectoriesPointer directories = LastDirectories();
  return directories ? directories->roots.Directories() : std::vector<std::string>();
}

// Mounts below a path, for searches.

std::string PathRules::MissingNote(const std::string& guest_path, guest::Guest& guest,
                                   const support::Context& context) const {
  const DirectoriesPointer directories = LastDirectories();
  if (!options_.mount_check || !directories) return "";
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    const std::string& mount = directories->mounts[i];
    const bool is_below = mount != guest_path && support::PathBelow(mount, guest_path);
    if (!is_below || options_.mount_check->LastKnown(i).mounted) continue;
    if (!options_.mount_check->Check(i, guest, context).mounted) {
      return MissingText(options_.mounts[i]);
    }
  }
  return "";
}

// Roots and mounts in the guest.

void PathRules::CheckRoots(guest::Guest& guest, const support::Context& context) const {
  for (const Root& root : options_.roots) {
    if (!root.narrowed_from.empty()) PinNarrowed(root, guest, context);
  }
  if (!options_.roots.empty()) ResolveDirectories(guest, context);  // pins `--allow-path`
}

void PathRules::PinNarrowed(const Root& root, guest::Guest& guest,
                            const support::Context& context) const {
  const std::string shown = Format("--root {}", root.host);
  const auto match = mount_points_.Find(root.guest);
  const std::size_t number = match.value().value;
  const Root& mount = options_.mounts[number];
  if (mount.guest != root.narrowed_from) {
    throw Error(CoveredText(shown, mount, JoinPath(mount.host, match->rest)));
  }
  // Do not pin the directory that a missing mount would cover.
  if (MustCheck(number, Access::kRead)) {
    RequireMounted(number, options_.mount_check->Check(number, guest, context), shown);
  }
  const auto pinned = options_.pins->Find(root);
  const std::string path =
      pinned ? *pinned : RealPathOfRootOption(root.guest, shown, guest, context);
  const std::string boundary = RealPathOfRootOption(mount.guest, shown, guest, context);
  if (!support::PathBelow(path, boundary)) {
    throw Error(
        "{} resolves to {} in the guest, outside the mount {}; "
        "choose a directory that is not a link out of it",
        shown, path, mount.guest);
  }
  options_.pins->Pin(root, path);
}

PathRules::DirectoriesPointer PathRules::LastDirectories() const {
  const std::scoped_lock lock(mutex_);
  return directories_;
}

PathRules::DirectoriesPointer PathRules::ResolveDirectories(guest::Guest& guest,
                                                            const support::Context& context) const {
  std::map<std::string, std::optional<std::string>> real_paths;  // shared: most roots are mounts
  for (const Root& root : options_.roots) real_paths[root.guest];
  for (const Root& mount : options_.mounts) real_paths[mount.guest];
  std::vector<guest::Request> requests;
  for (const auto& [path, real] : real_paths) requests.push_back(guest::Request::RealPath(path));
  std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);
  auto reply = replies.begin();
  for (auto& [path, real] : real_paths) {
    if (!reply->failure) real = reply->As<std::string>();  // else missing or not accessible
    ++reply;
  }

  auto directories = std::make_shared<Directories>();
  std::vector<std::string> roots;
  for (const Root& root : options_.roots) {
    std::optional<std::string> path = real_paths[root.guest];
    if (root.is_guests_own || !root.narrowed_from.empty()) {
      path = path ? options_.pins->Pin(root, *path) : options_.pins->Find(root);
    }
    directories->root_found.push_back(path.has_value());
    roots.push_back(path.value_or(root.guest));
  }
  for (const Root& mount : options_.mounts) {
    directories->mounts.push_back(real_paths[mount.guest].value_or(mount.guest));
  }
  directories->roots = StrictestFirst(options_.roots, roots);
  directories->mount_index = StrictestFirst(options_.mounts, directories->mounts);
  const std::scoped_lock lock(mutex_);
  return directories_ = std::move(directories);
}

/// Resolves them again if they may have changed: a mount point is a link, or `path` is not under a
/// root that was found.
PathRules::DirectoriesPointer PathRules::CurrentDirectories(const std::string& path,
                                                            guest::Guest& guest,
                                                            const support::Context& context) const {
  const DirectoriesPointer last = LastDirectories();
  if (!last) return ResolveDirectories(guest, context);
  const auto match = last->roots.Find(path);
  bool may_have_changed = !match || !last->root_found[match->value];
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    may_have_changed |= last->mounts[i] != options_.mounts[i].guest;
  }
  return may_have_changed ? ResolveDirectories(guest, context) : last;
}

}  // namespace paths
