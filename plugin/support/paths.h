#pragma once

#include <string>
#include <string_view>

namespace support {

/// The shortest path that names the same by its text alone: no "." and no repeated or trailing
/// slashes, ".." taken together with the component before it, and dropped at the root. "" becomes
/// ".". Nothing is looked up. Same results as Go's path/filepath.Clean, which Lima uses.
std::string CleanPath(std::string_view path);

}  // namespace support
