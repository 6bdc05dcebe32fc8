#pragma once

#include <functional>
#include <optional>
#include <string>

#include "guest/guest.h"
#include "support/context.h"

namespace paths {

struct GuestLocation {
  std::string path;                                 ///< absolute, without links, "." and ".."
  std::optional<guest::FileAttributes> attributes;  ///< empty if nothing is there
  std::string existing_parent;  ///< then: the deepest directory above that exists
};

/// Guest::FindRealFile, or a burst that asks for more than that.
using FileFinder = std::function<guest::RealFile(const std::string& path)>;

/// Resolves an absolute path that need not exist: the deepest existing ancestor by its real path,
/// dangling links by their target. (OpenSSH's server reports a path as missing if two components
/// are missing, in link loops, and below a file.) `find` looks up each path that is tried.
/// Throws guest::FileError if the guest refuses, and support::CallError for a link loop and for a
/// file used as a directory; both name the path `shown`.
GuestLocation ResolveInGuest(const std::string& path, const std::string& shown, guest::Guest& guest,
                             const support::Context& context, const FileFinder& find);

}  // namespace paths
