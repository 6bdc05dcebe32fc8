#pragma once

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

/// Resolves an absolute path that need not exist: the deepest existing ancestor by its real path,
/// dangling links by their target. (OpenSSH's server reports a path as missing if two components
/// are missing, in link loops, and below a file.) `found` is what the guest reported for the path;
/// empty if that was kNotFound.
///
/// Throws guest::FileError if the guest refuses, and support::CallError, which names the path
/// `shown`, for a link loop and for a file used as a directory.
GuestLocation ResolveInGuest(std::string path, std::optional<guest::RealFile> found,
                             const std::string& shown, guest::Guest& guest,
                             const support::Context& context);

}  // namespace paths
