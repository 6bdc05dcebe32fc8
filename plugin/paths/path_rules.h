#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "paths/mount_check.h"
#include "support/context.h"

/// The path rules: the instance's mounts are the roots, and a file tool works under a root or not
/// at all.
namespace paths {

/// A directory that the agent may use. Both paths are absolute, clean and without a trailing slash
/// (but "/" itself).
struct Root {
  std::string host;   ///< as the agent knows it: the mount's location
  std::string guest;  ///< the mount's mountPoint
  bool writable = false;
  std::vector<std::string> host_aliases = {};  ///< other spellings of `host`: its links resolved
  /// The resolution of `guest` that counts, whatever it resolves to by now; empty: none is known.
  std::string pinned = {};
  /// By the instance's configuration; what counts in the guest is what MountCheck says.
  bool reads_may_be_stale = false;
  /// The mountPoint as Lima compares it with others, for texts; empty: `guest`. Need not be clean.
  std::string written_guest = {};
  bool is_guests_own = false;  ///< `--allow-path`: no mount, also where there are no mounts
};

enum class Access {
  kRead,
  kList,  ///< as kRead; where the path is a directory, it is opened in the same burst
  kWrite
};

/// A path that has passed the rules.
struct ResolvedPath {
  std::string host;   ///< its host name, cleaned, links not followed: what texts name
  std::string guest;  ///< what the guest resolved it to: the only path to use
  /// What is there, links followed; empty when nothing is there yet. With `directory` only its type
  /// is known.
  std::optional<guest::FileAttributes> attributes;
  /// Open for Access::kList, where the path led through no link. Must not outlive the guest.
  std::shared_ptr<const guest::OpenHandle> directory = {};
  /// Where nothing is there: the deepest directory above `guest` that exists; it is under the same
  /// root when access was asked for writing. Empty otherwise.
  std::string existing_parent;

  /// What to tell of contents, sizes and times that come from here: that they may be old, and how
  /// to change that. Empty where the guest asks the host.
  std::string stale_note = {};
};

/// What may be used, and under which names.
///
/// A path is the host's (a root's `host` or one of its aliases) or the guest's (its `guest`). The
/// longest root wins, on whole components; where two are equally long, the host's reading wins.
/// The guest then resolves the path, and what comes out must lie under a root again. Writing also
/// needs the mount that it lies in, the innermost one, to be writable, and the path not to be a
/// protected setting (protected_settings.h) unless the root is `--allow-path`'s.
///
/// A host's path over which another mount lies in the guest is refused: other files are there.
///
/// A mount counts as the guest resolves it now, because it may come up late. A root that is no
/// mount (`--root`, `--allow-path`) is an ordinary directory that a command may replace by a link:
/// it counts as it was resolved first, or as Root::pinned says.
///
/// A mount that the guest has not mounted (Options::mount_check) is refused, by name and after the
/// path was resolved. A directory that is no mount, as `--allow-path` may give, is never checked.
///
/// Round trips of Resolve: one (STATVFS for the mount_check, REALPATH, LSTAT or OPENDIR) where the
/// path exists or only its last component is missing; two through a link, and for what
/// Access::kList cannot open. Where more is missing: RealPath for each missing component, and
/// LStat, LStat, ReadLink for each link followed by hand. Once per object: RealPath for each root
/// and each further mount; again when a path is about to be refused, as a mount may have come up
/// since, or lies in a root that was not there. Each time: RealPath for each mount that was found
/// through links. With a mount_check, what that takes where the mount is not as it was.
///
/// Thread-safe.
class PathRules {
 public:
  struct Options {
    std::vector<Root> roots;
    std::string instance;           ///< for the texts that say how to change the mounts
    std::string working_directory;  ///< of this program, on the host; may be empty
    bool allow_settings = false;    ///< writes to what IsProtectedSetting names are not refused
    /// All mounts of the instance, also where `roots` holds less or more: for their rights, and for
    /// the same texts. Empty: the roots are the mounts.
    std::vector<Root> mounts;
    std::shared_ptr<MountCheck> mount_check;  ///< of `mounts`; null: they are always there
    /// What counts of a root without Root::pinned that the guest has just resolved: `resolved`, or
    /// what it was for an earlier PathRules. Empty: `resolved`. Any thread.
    std::function<std::string(const Root& root, const std::string& resolved)> pin = {};
  };
  explicit PathRules(Options options);

  /// Translates, cleans and lets the guest resolve `path`, and checks the result. Throws
  /// support::CallError whose text names the path and lists the roots when it may not be used so,
  /// and guest::FileError, with the host's name of the path, when the guest cannot look. That
  /// nothing is there is no error.
  [[nodiscard]] ResolvedPath Resolve(std::string_view path, Access access, guest::Guest& guest,
                                     const support::Context& context) const;

  /// What to tell of a search below `guest_path`, which Resolve gave: that a mount there is not
  /// mounted in the guest. Empty where none is missing. A round trip, as a mount_check takes it,
  /// for each that was missing when it was last asked for.
  [[nodiscard]] std::string MissingNote(const std::string& guest_path, guest::Guest& guest,
                                        const support::Context& context) const;

  /// The host's name for a guest path under a root, be the root's own path resolved or not; the
  /// guest path itself elsewhere.
  [[nodiscard]] std::string ToHost(std::string_view guest_path) const;

  /// The directory that glob and search use when they are given none: the working directory where
  /// it is under a root, else the only root. Throws support::CallError that lists the roots
  /// otherwise.
  [[nodiscard]] std::string DefaultDirectory() const;

  [[nodiscard]] const std::vector<Root>& roots() const { return options_.roots; }

 private:
  /// Guest paths with their links resolved, in the order of the options.
  struct ResolvedRoots {
    std::vector<std::string> roots;
    std::vector<bool> root_found;  ///< false: the guest knew of none, and `roots` has it as written
    std::vector<std::string> mounts;
  };

  [[nodiscard]] std::string Clean(std::string_view path) const;
  [[nodiscard]] const Root* RootAbove(const std::string& guest_path,
                                      const ResolvedRoots& resolved) const;
  /// What follows the root's own resolved path in a path that lies in it.
  [[nodiscard]] std::string_view BelowRoot(std::string_view guest_path, const Root& root,
                                           const ResolvedRoots& resolved) const;
  [[nodiscard]] bool IsFound(const Root& root, const ResolvedRoots& resolved) const;
  [[nodiscard]] bool IsMount(const Root& root) const;
  /// Null outside all mounts. By the mounts' own paths, or by these of them.
  [[nodiscard]] const Root* MountAbove(const std::string& guest_path,
                                       const std::vector<std::string>& mount_paths) const;
  /// `mount` may be null: then there is nothing to ask.
  void RequireMounted(const Root* mount, const std::string& shown, guest::Guest& guest,
                      const support::Context& context) const;
  /// The first question for a path: asks for its mount in the same burst. `directory` is set where
  /// Access::kList opened it.
  [[nodiscard]] guest::RealFile LookFirst(const std::string& path, Access access, const Root* mount,
                                          const std::string& shown,
                                          std::shared_ptr<const guest::OpenHandle>& directory,
                                          guest::Guest& guest,
                                          const support::Context& context) const;
  [[nodiscard]] std::size_t PlaceOf(const Root& mount) const;
  /// Of the mount, and of those below the path, which a search there enters.
  [[nodiscard]] std::string StaleNote(const Root* mount, const std::string& guest_path,
                                      const ResolvedRoots& resolved) const;
  [[nodiscard]] std::shared_ptr<const ResolvedRoots> CachedRoots() const;
  /// Whether the mounts that were found through links are still where they were: a directory above
  /// one can become a link for as long as the guest is asked, and then be itself again.
  [[nodiscard]] bool LinksLeadThereStill(const ResolvedRoots& resolved, guest::Guest& guest,
                                         const support::Context& context) const;
  std::shared_ptr<const ResolvedRoots> ResolveRoots(guest::Guest& guest,
                                                    const support::Context& context) const;

  Options options_;
  std::vector<std::string> mount_points_;  ///< guest paths of the mounts, as written
  mutable std::mutex mutex_;  ///< guards the pointer only, never held while the guest is asked
  mutable std::shared_ptr<const ResolvedRoots> resolved_roots_;
};

}  // namespace paths
