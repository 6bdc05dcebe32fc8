#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"

/// The path rules: the instance's mounts are the roots, and a file tool works under a root or not
/// at all.
namespace tools {

/// A directory that the agent may use. Both paths are absolute, clean and without a trailing slash
/// (but "/" itself).
struct Root {
  std::string host;   ///< as the agent knows it: the mount's location
  std::string guest;  ///< the mount's mountPoint
  bool writable = false;
  std::vector<std::string> host_aliases;  ///< other spellings of `host`: its links resolved
};

enum class Access { kRead, kWrite };

/// A path that has passed the rules.
struct ResolvedPath {
  std::string given;  ///< as the agent wrote it, cleaned
  std::string guest;  ///< what the guest resolved it to: the only path to use
  /// What is there, links followed; empty when nothing is there yet.
  std::optional<guest::FileAttributes> attributes;
};

/// Immutable once made; thread-safe.
class PathRules {
 public:
  struct Options {
    std::vector<Root> roots;
    std::string instance;           ///< for the texts that say how to change the mounts
    std::string working_directory;  ///< of this program, on the host; may be empty
  };
  explicit PathRules(Options options);

  /// Translates, cleans and lets the guest resolve `path`, and checks the result. Throws
  /// support::CallError whose text names the path and lists the roots when it may not be used so.
  [[nodiscard]] ResolvedPath Resolve(std::string_view path, Access access, guest::Guest& guest,
                                     const support::Context& context) const;

  /// The host's name for a guest path under a root; the guest path itself elsewhere.
  [[nodiscard]] std::string ToHost(std::string_view guest_path) const;

  /// The directory that glob and search use when they are given none: the working directory where
  /// it is under a root, else the only root. Throws support::CallError that lists the roots
  /// otherwise.
  [[nodiscard]] std::string DefaultDirectory() const;

  [[nodiscard]] const std::vector<Root>& roots() const { return options_.roots; }

 private:
  Options options_;
};

}  // namespace tools
