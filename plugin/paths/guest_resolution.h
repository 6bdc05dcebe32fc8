#pragma once

#include <optional>
#include <string>

#include "guest/guest.h"
#include "support/context.h"

namespace paths {

struct GuestLocation {
  std::string guest;  ///< resolved by the guest: absolute, without links, "." and ".."
  std::optional<guest::FileAttributes> attributes;  ///< empty if nothing is there
  std::string existing_parent = {};  ///< in that case, the deepest existing directory above
};

/// Resolves an absolute path that need not exist, including dangling links. OpenSSH's server
/// reports a path as missing if two components are missing, in a link loop, and below a file; this
/// follows the components itself then, all with one burst for each link. `found` is the guest's
/// reply for the path, empty for kNotFound.
///
/// Throws guest::FileError if the guest refuses. Throws support::CallError, with `shown` as the
/// path, for a link loop and for a file used as a directory.
GuestLocation ResolveInGuest(std::string path, std::optional<GuestLocation> found,
                             const std::string& shown, guest::Guest& guest,
                             const support::Context& context);

}  // namespace paths
