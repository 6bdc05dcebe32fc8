#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace support {

/// Like Go's path/filepath.Clean, which Lima uses: removes ".", repeated and trailing slashes, and
/// ".." with the component before it. "" becomes ".". Works on the text alone.
std::string CleanPath(std::string_view path);

/// What follows `directory` in `path`, without the slash: "" for the directory itself, nothing if
/// `path` is not under it. Compares whole components. Both clean and absolute. A view into `path`.
std::optional<std::string_view> PathBelow(std::string_view path, std::string_view directory);

/// `directory`/`rest`; the directory itself when `rest` is empty.
std::string JoinPath(std::string_view directory, std::string_view rest);

/// The path without its last component: "/" for "/a" and for "/". Clean and absolute.
std::string ParentPath(std::string_view path);

/// The last component: "b" for "/a/b", "" for "/". Clean and absolute. A view into `path`.
std::string_view LastComponent(std::string_view path);

}  // namespace support
