#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace support {

/// The shortest path that names the same by its text alone: no "." and no repeated or trailing
/// slashes, ".." taken together with the component before it, and dropped at the root. "" becomes
/// ".". Nothing is looked up. Same results as Go's path/filepath.Clean, which Lima uses.
std::string CleanPath(std::string_view path);

/// What follows `directory` in `path` without the slash between them: "" for the directory itself,
/// empty optional when `path` does not lie under it. Whole components: "/a/bc" is not under "/a/b".
/// Both clean and absolute. A view into `path`.
std::optional<std::string_view> PathBelow(std::string_view path, std::string_view directory);

/// `directory`/`rest`; the directory itself when `rest` is empty.
std::string JoinPath(std::string_view directory, std::string_view rest);

/// The path without its last component: "/" for "/a" and for "/". Clean and absolute.
std::string ParentPath(std::string_view path);

/// The last component: "b" for "/a/b", "" for "/". Clean and absolute. A view into `path`.
std::string_view LastComponent(std::string_view path);

}  // namespace support
