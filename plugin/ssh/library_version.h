#pragma once

#include <string>

namespace ssh {

/// The version of the libssh that this program runs with ("0.10.6"), which need not be the one that
/// it was built with. Its releases carry security fixes.
std::string LibraryVersion();

}  // namespace ssh
