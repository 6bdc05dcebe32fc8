#include "paths/path_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "paths/path_texts.h"
#include "paths/protected_settings.h"
#include "support/errors.h"
#include "support/paths.h"

namespace paths {
namespace {

using support::CallError;
using support::JoinPath;

/// Of two names of one directory, the read-only one counts.
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

std::vector<std::string> GuestPaths(const std::vector<Root>& roots) {
  std::vector<std::string> paths;
  paths.reserve(roots.size());
  for (const Root& root : roots) paths.push_back(root.guest);
  return paths;
}

bool IsWholeMount(const Root& root) {
  return !root.is_guests_own && root.narrowed_from.empty();
}

bool IsHostName(const std::string& host_path, const Root& root, const std::string& rest) {
  const auto matches = [&](const std::string& name) { return JoinPath(name, rest) == host_path; };
  return matches(root.host) ||
         std::any_of(root.host_aliases.begin(), root.host_aliases.end(), matches);
}

std::optional<std::string> RealPath(const std::string& path, guest::Guest& guest,
                                    const support::Context& context) {
  try {
    return guest.RealPath(path, context);
  } catch (const guest::FileError&) {
    return std::nullopt;  // missing (for now), or not accessible
  }
}

std::string RealPathOfRootOption(const std::string& path, const std::string& shown,
                                 guest::Guest& guest, const support::Context& context) {
  try {
    return guest.RealPath(path, context);
  } catch (const guest::FileError& error) {
    throw CallError(shown + " cannot be used in the guest: " + error.what() +
                    "; create that directory or choose another");
  }
}

}  // namespace

PathRules::PathRules(Options options) : options_(std::move(options)) {
  const std::vector<Root>& roots = options_.roots;
  if (options_.mounts.empty()) {
    std::copy_if(roots.begin(), roots.end(), std::back_inserter(options_.mounts),
                 [](const Root& root) { return !root.is_guests_own; });
  }
  for (std::size_t i = 0; i < roots.size(); ++i) host_names_.Add(roots[i].host, i);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    for (const std::string& alias : roots[i].host_aliases) host_names_.Add(alias, i);
  }
  names_ = host_names_;  // of equal names, the first one counts: the host's
  for (std::size_t i = 0; i < roots.size(); ++i) names_.Add(roots[i].guest, i);
  mount_points_ = StrictestFirst(options_.mounts, GuestPaths(options_.mounts));
  places_ = MakePlaces(std::vector<std::optional<std::string>>(roots.size()),
                       GuestPaths(options_.mounts));
}

// The steps of Resolve.

ResolvedPath PathRules::Resolve(std::string_view path, Access access, guest::Guest& guest,
                                const support::Context& context) const {
  const Target target = Translate(path);
  ResolvedPath resolved;
  resolved.host = target.host;
  GuestLocation location = Look(target, access, resolved.directory, guest, context);

  const PlacesPointer places = PlacesFor(location.path, guest, context);
  if (!places) throw CallError(LeadsOutsideText(target.host, location.path, options_));
  const auto match = places->mount_index.Find(location.path);  // none: outside all mounts
  const Root* mount = match ? &options_.mounts[match->value] : nullptr;
  if (access == Access::kWrite) RequireWritable(target, location, mount, *places);
  if (mount != target.mount && IsChecked(mount)) {  // a link led to another mount
    RequireMounted(*mount, options_.mount_check->Ask(NumberOf(*mount), guest, context),
                   target.host);
  }

  if (location.path != target.guest) resolved.directory = nullptr;
  if (IsChecked(mount)) resolved.stale_note = StaleNote(*mount, location.path, *places);
  resolved.guest = std::move(location.path);
  resolved.attributes = location.attributes;
  resolved.existing_parent = std::move(location.existing_parent);
  return resolved;
}

PathRules::Target PathRules::Translate(std::string_view path) const {
  const std::string given = Clean(path);
  const auto match = names_.Find(given);
  if (!match) throw CallError(OutsideText(given, options_));
  const Root& root = options_.roots[match->value];
  Target target;
  target.host = JoinPath(root.host, match->rest);
  target.guest = JoinPath(root.guest, match->rest);
  target.below_root = match->rest;
  const auto mount = mount_points_.Find(target.guest);
  if (!mount) return target;
  target.mount = &options_.mounts[mount->value];
  const bool is_nested = target.mount->guest.size() > root.guest.size();
  const bool named_by_host = given != target.guest;
  if (is_nested && named_by_host && !IsHostName(target.host, *target.mount, mount->rest)) {
    throw CallError(
        CoveredText(target.host, *target.mount, JoinPath(target.mount->host, mount->rest)));
  }
  return target;
}

GuestLocation PathRules::Look(const Target& target, Access access,
                              std::shared_ptr<const guest::OpenHandle>& directory,
                              guest::Guest& guest, const support::Context& context) const {
  bool is_first = true;
  return ResolveInGuest(target.guest, target.host, guest, context, [&](const std::string& path) {
    return std::exchange(is_first, false)
               ? LookFirst(target, path, access, directory, guest, context)
               : guest.FindRealFile(path, context);
  });
}

guest::RealFile PathRules::LookFirst(const Target& target, const std::string& path, Access access,
                                     std::shared_ptr<const guest::OpenHandle>& directory,
                                     guest::Guest& guest, const support::Context& context) const {
  const bool lists = access == Access::kList;
  std::vector<guest::Request> requests;
  if (IsChecked(target.mount)) {
    requests.push_back(options_.mount_check->Question(NumberOf(*target.mount)));
  }
  requests.emplace_back(guest::request::RealPath{path});
  if (lists) {
    requests.emplace_back(guest::request::OpenDirectory{path});
  } else {
    requests.emplace_back(guest::request::LStat{path});
  }
  std::vector<guest::Reply> replies = guest.RoundTrip(std::move(requests), context);
  guest::Reply& last = replies.back();
  if (lists && !last.failure) {
    directory = std::make_shared<const guest::OpenHandle>(guest, last.As<guest::Handle>());
  }
  if (IsChecked(target.mount)) {
    RequireMounted(*target.mount,
                   options_.mount_check->Judge(NumberOf(*target.mount), std::move(replies.front()),
                                               guest, context),
                   target.host);
  }

  guest::RealFile found{replies[replies.size() - 2].As<std::string>(), std::nullopt};
  if (directory && found.path == path) {
    found.attributes.emplace();
    found.attributes->type = guest::FileType::kDirectory;
    return found;
  }
  if (lists || found.path != path) {
    last = std::move(guest.RoundTrip({guest::request::LStat{found.path}}, context).front());
  }
  if (!last.Is(guest::FileErrorCode::kNotFound)) {
    found.attributes = last.As<guest::FileAttributes>();
  }
  return found;
}

void PathRules::RequireMounted(const Root& mount, MountState state,
                               const std::string& shown) const {
  if (!state.mounted) throw CallError(NotMountedText(shown, mount, options_));
}

void PathRules::RequireWritable(const Target& target, const GuestLocation& location,
                                const Root* mount, const Places& places) const {
  const auto match = places.roots.Find(location.path);
  const Root& root = options_.roots[match->value];
  if (!root.writable) throw CallError(ReadOnlyText(target.host, root, options_));
  if (mount != nullptr && !mount->writable) {
    throw CallError(ReadOnlyText(target.host, *mount, options_));
  }
  // Both names count: either may be the one that agents read.
  const bool is_protected =
      IsProtectedSetting(target.below_root) || IsProtectedSetting(match->rest);
  if (is_protected && !options_.allow_settings && !root.is_guests_own) {
    throw CallError(ProtectedSettingText(target.host));
  }
  if (location.attributes) return;
  const auto parent = places.roots.Find(location.existing_parent);
  if (!parent || parent->value != match->value) {
    throw CallError(target.host + " cannot be created: the directory " + root.host +
                    " is not there in the guest (" + root.guest + " does not exist)");
  }
}

std::string PathRules::Clean(std::string_view path) const {
  if (path.empty()) {
    throw CallError("the path is empty: expected an absolute path in one of: " +
                    ListRoots(options_));
  }
  if (path.find('\0') != std::string_view::npos) {
    throw CallError("the path contains a NUL byte: expected an absolute path in one of: " +
                    ListRoots(options_));
  }
  if (path.front() == '/') return support::CleanPath(path);

  std::string text = std::string(path) + " is relative: expected an absolute path";
  try {
    text += ", such as " + support::CleanPath(JoinPath(DefaultDirectory(), path));
  } catch (const CallError&) {
    text += " in one of: " + ListRoots(options_);  // no directory to join it to
  }
  throw CallError(text);
}

std::string PathRules::DefaultDirectory() const {
  if (!options_.working_directory.empty()) {
    std::string directory = support::CleanPath(options_.working_directory);
    if (host_names_.Find(directory)) return directory;
  }
  if (options_.roots.size() == 1) return options_.roots.front().host;
  throw CallError(
      "no path was given, and the server's working directory is outside the directories that may "
      "be used; give one of: " +
      ListRoots(options_));
}

std::string PathRules::ToHost(std::string_view guest_path) const {
  const auto match = CurrentPlaces()->names.Find(guest_path);
  if (!match) return std::string(guest_path);
  return JoinPath(options_.roots[match->value].host, match->rest);
}

// Mounts.

std::size_t PathRules::NumberOf(const Root& mount) const {
  return static_cast<std::size_t>(&mount - options_.mounts.data());
}

/// Also of mounts below the path, which a search enters.
std::string PathRules::StaleNote(const Root& mount, const std::string& guest_path,
                                 const Places& places) const {
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    const bool concerned =
        &options_.mounts[i] == &mount || support::PathBelow(places.mounts[i], guest_path);
    if (concerned && options_.mount_check->LastKnown(i).reads_may_be_stale) {
      return StaleText(options_.mounts[i], options_);
    }
  }
  return "";
}

std::string PathRules::MissingNote(const std::string& guest_path, guest::Guest& guest,
                                   const support::Context& context) const {
  if (!options_.mount_check) return "";
  const PlacesPointer places = CurrentPlaces();
  for (std::size_t i = 0; i < options_.mounts.size(); ++i) {
    const bool is_below =
        places->mounts[i] != guest_path && support::PathBelow(places->mounts[i], guest_path);
    if (!is_below || options_.mount_check->LastKnown(i).mounted) continue;
    if (!options_.mount_check->Ask(i, guest, context).mounted) {
      return MissingText(options_.mounts[i]);
    }
  }
  return "";
}

// Where roots and mounts are in the guest.

void PathRules::CheckRoots(guest::Guest& guest, const support::Context& context) const {
  for (const Root& root : options_.roots) {
    if (!root.narrowed_from.empty()) PinNarrowed(root, guest, context);
    if (!root.is_guests_own || options_.pins.Find(root)) continue;
    // It may not exist yet; then ResolvePlaces pins it later.
    if (const auto path = RealPath(root.guest, guest, context)) options_.pins.Pin(root, *path);
  }
}

void PathRules::PinNarrowed(const Root& root, guest::Guest& guest,
                            const support::Context& context) const {
  const std::string shown = "--root " + root.host;
  const auto match = mount_points_.Find(root.guest);
  const Root& mount = options_.mounts.at(match.value().value);
  if (mount.guest != root.narrowed_from) {
    throw CallError(CoveredText(shown, mount, JoinPath(mount.host, match->rest)));
  }
  // The directory beneath a missing mount must not be pinned.
  if (IsChecked(&mount)) {
    RequireMounted(mount, options_.mount_check->Ask(match->value, guest, context), shown);
  }
  const auto pinned = options_.pins.Find(root);
  const std::string path =
      pinned ? *pinned : RealPathOfRootOption(root.guest, shown, guest, context);
  const std::string boundary = RealPathOfRootOption(mount.guest, shown, guest, context);
  if (!support::PathBelow(path, boundary)) {
    throw CallError(shown + " resolves to " + path + " in the guest, outside the mount " +
                    mount.guest + "; choose a directory that is not a link out of it");
  }
  options_.pins.Pin(root, path);
}

PathRules::PlacesPointer PathRules::CurrentPlaces() const {
  const std::scoped_lock lock(mutex_);
  return places_;
}

PathRules::PlacesPointer PathRules::MakePlaces(const std::vector<std::optional<std::string>>& roots,
                                               std::vector<std::string> mounts) const {
  auto places = std::make_shared<Places>();
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    places->root_found.push_back(roots[i].has_value());
    paths.push_back(roots[i].value_or(options_.roots[i].guest));
    places->names.Add(paths.back(), i);
  }
  for (std::size_t i = 0; i < roots.size(); ++i) places->names.Add(options_.roots[i].guest, i);
  places->roots = StrictestFirst(options_.roots, paths);
  places->mount_index = StrictestFirst(options_.mounts, mounts);
  places->mounts = std::move(mounts);
  return places;
}

PathRules::PlacesPointer PathRules::ResolvePlaces(guest::Guest& guest,
                                                  const support::Context& context) const {
  std::map<std::string, std::optional<std::string>> asked;  // most roots are mounts too
  const auto real_path = [&](const std::string& path) {
    const auto [entry, is_new] = asked.try_emplace(path);
    if (is_new) entry->second = RealPath(path, guest, context);
    return entry->second;
  };
  std::vector<std::optional<std::string>> roots;
  for (const Root& root : options_.roots) {
    auto path = IsWholeMount(root) ? std::nullopt : options_.pins.Find(root);
    if (!path) path = real_path(root.guest);
    if (path && !IsWholeMount(root)) path = options_.pins.Pin(root, *path);
    roots.push_back(std::move(path));
  }
  std::vector<std::string> mounts;
  for (const Root& mount : options_.mounts) {
    mounts.push_back(real_path(mount.guest).value_or(mount.guest));
  }
  auto places = MakePlaces(roots, std::move(mounts));
  const std::scoped_lock lock(mutex_);
  return places_ = std::move(places);
}

PathRules::PlacesPointer PathRules::PlacesFor(const std::string& path, guest::Guest& guest,
                                              const support::Context& context) const {
  const auto is_under_found_root = [&path](const Places& places) {
    const auto match = places.roots.Find(path);
    return match && places.root_found[match->value];
  };
  PlacesPointer places = CurrentPlaces();
  bool is_current = true;
  for (std::size_t i = 0; i < options_.mounts.size() && is_current; ++i) {
    // Only a mount point that is a link can have moved.
    const std::string& written = options_.mounts[i].guest;
    is_current =
        places->mounts[i] == written || RealPath(written, guest, context) == places->mounts[i];
  }
  if (is_current && is_under_found_root(*places)) return places;
  places = ResolvePlaces(guest, context);
  return places->roots.Find(path) ? places : nullptr;
}

}  // namespace paths
