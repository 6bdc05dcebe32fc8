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

/// Bytes of the listing as the guest prints it, over all requests of one call: some 700,000 names.
/// Without `find`, of the paths and of a std::string for each.
inline constexpr std::size_t kMaximumListing = std::size_t{64} << 20;

/// Bytes of what git says it ignores, likewise; whole directories count once. What is kept of it,
/// with the names of the repositories and a std::string for each, may be kMaximumListing.
inline constexpr std::size_t kMaximumIgnoredListing = std::size_t{8} << 20;

/// Bytes of one path of a listing, relative to its directory: the kernel's limit for a path is
/// 4096, but find goes down step by step.
inline constexpr std::size_t kMaximumListedPath = std::size_t{64} << 10;

struct ListingRequest {
  std::string directory;                     ///< resolved by the guest: absolute, without links
  std::optional<std::size_t> maximum_depth;  ///< 1: its own names only; nothing: all below
  bool enters_git = false;                   ///< false: `.git` and what is in it is left out
  bool regular_files_only = false;
  /// fnmatch(3) patterns for the last name; empty: all. They only save work: a walk without `find`
  /// gives other names too.
  std::vector<std::string> name_filters;
  /// Asks git what it ignores: in the repository that `directory` lies in, and, where `enters_git`
  /// is false, in those below it. Nothing is ignored where `directory` itself lies in an ignored
  /// directory, or git is missing. Of directories that hold nothing tracked git before 2.32 tells
  /// only which files are ignored, not which directories.
  bool wants_ignored = false;
};

/// A name below the requested directory. Links are names, and never followed.
struct ListedName {
  /// Relative to the directory: names joined by '/', none of them "." or "..", else any bytes but
  /// NUL; at most kMaximumListedPath. Lives as long as the visit.
  std::string_view path;
  guest::FileType type = guest::FileType::kUnknown;
  std::uint64_t size = 0;
  std::int64_t modified = 0;               ///< seconds since 1970-01-01 00:00:00 UTC
  std::uint32_t modified_nanoseconds = 0;  ///< 0 where the guest's find does not tell
  /// How many names of the path, from the first on, make up what git ignores: the outermost such
  /// directory that it is in, or the whole path. 0: git does not ignore it.
  std::size_t ignored_names = 0;
};

/// What the guest's user was not permitted to look at: directories that it may not read, and names
/// in directories that it may read but not enter.
struct ListingGaps {
  /// Of the paths, so many are told.
  static constexpr std::size_t kMaximumExamples = 3;

  std::size_t count = 0;
  std::vector<std::string> examples;  ///< guest paths, any bytes
};

/// Called for each name; `request` is the index of the request that found it.
using NameVisitor = std::function<void(std::size_t request, const ListedName& name)>;

/// Answers all requests in one round trip, request by request, each in the order of the guest. A
/// directory that has vanished has no names; one that may not be read neither, but is told of.
/// Where the guest has no usable `find` the trees are walked by Guest::List, with as many round
/// trips as there are directories; nothing is ignored then. A `find` that a signal has ended is
/// asked again, twice. Throws support::CallError when it never comes to its end or the guest does
/// not say how it ended, a limit is exceeded, or the guest lists a name that cannot exist.
ListingGaps ListTrees(guest::Guest& guest, const std::vector<ListingRequest>& requests,
                      const NameVisitor& visit, const support::Context& context);

}  // namespace find
