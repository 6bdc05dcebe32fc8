#pragma once

#include <functional>
#include <optional>
#include <string>

#include "guest/guest.h"
#include "support/context.h"

namespace paths {

/// Where a path leads in the guest.
struct GuestLocation {
  std::string path;                                 ///< absolute, without links, "." and ".."
  std::optional<guest::FileAttributes> attributes;  ///< empty when nothing is there
  std::string existing_parent;  ///< then: the deepest directory above that exists
};

/// Guest::FindRealFile, or a call that brings along what the caller wants of the file besides.
using FileFinder = std::function<guest::RealFile(const std::string& path)>;

/// Lets the guest resolve an absolute path, also one that does not exist: the deepest existing
/// ancestor by its real path, links that lead nowhere to where they point. (OpenSSH's server calls
/// a path absent as soon as two components are missing, and says the same of link loops and of
/// files used as directories.) `shown` is the path's name for texts. Throws guest::FileError when
/// the guest may not look, support::CallError for link loops and for a file used as a directory.
/// `find` asks the guest for each path tried; what it found for the last one is the answer.
GuestLocation ResolveInGuest(const std::string& path, const std::string& shown, guest::Guest& guest,
                             const support::Context& context, const FileFinder& find);

}  // namespace paths
