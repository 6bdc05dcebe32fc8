// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"

/// Lists directory trees of the guest with its `find`.
namespace find {

/// Most bytes of a listing as the guest prints it, for all requests of a call: some 700,000 names.
inline constexpr std::size_t kMaxListing = std::size_t{64} << 20;

/// Most bytes of the ignored names that git prints; it prints a whole directory as one name.
inline constexpr std::size_t kMaxIgnoredListing = std::size_t{8} << 20;

/// Most bytes of one listed path. May exceed the kernel's 4096, because find descends step by step.
inline constexpr std::size_t kMaxListedPath = std::size_t{64} << 10;

/// Most bytes of find's error messages.
inline constexpr std::size_t kMaxMessages = 4096;

struct ListingRequest {
  std::string directory;  ///< resolved by the guest: absolute, without links
  std::optional<std::size_t> maximum_depth = {};  ///< 1 for its own names only; empty for no limit
  bool enters_git = false;                        ///< if false, skips `.git` and its content
  std::vector<std::string> name_filters = {};     ///< fnmatch(3) patterns for names; empty for all
  /// Without a depth: reports which names git ignores, in each repository by its own rules. None
  /// are if `directory` itself is in an ignored directory, or the guest has no git.
  bool wants_ignored = false;
  bool skips_ignored = false;  ///< then, does not enter ignored directories
};

/// A name below the requested directory. Links are names, and only entered if there is a
/// `maximum_depth`, but no links below them.
struct ListedName {
  /// Relative to the directory: names joined by '/', none of them "." or "..", any bytes but NUL;
  /// at most kMaxListedPath. Valid during the visit.
  std::string_view path;
  bool is_directory = false;
  std::int64_t modified = 0;  ///< nanoseconds since 1970-01-01 00:00:00 UTC
  /// How many leading names form the path that git ignores: the outermost ignored directory, or the
  /// whole path. 0 if git does not ignore it.
  std::size_t ignored_names = 0;
};

/// Called for each name; `request` is the index of the request that found it.
using NameVisitor = std::function<void(std::size_t request, const ListedName& name)>;

/// Lists all requests in one round trip, one after the other, each in the order of the guest's
/// find, and returns find's messages: any bytes, at most kMaxMessages. A directory that has
/// vanished has no names. `roots`: resolved directories; links that leave them are not entered.
/// Throws support::Error if the guest has no usable find, find fails, a limit is exceeded, or
/// the guest lists an invalid name.
std::string ListTrees(guest::Guest& guest, const std::vector<ListingRequest>& requests,
                      const std::vector<std::string>& roots, const NameVisitor& visit,
                      const support::Context& context);

/// Messages of find or git, but those about names that have vanished.
std::string WithoutVanished(std::string messages);

/// What scripts call: programs/.
std::string_view ScriptFunctions();

/// As git prints it with core.quotePath off: in double quotes and with C's escapes if it contains
/// control characters, double quotes or backslashes (git's quote.c).
std::string GitQuotedName(std::string_view name);

}  // namespace find
