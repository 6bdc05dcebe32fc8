// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace support {

/// How many symbolic links one path may lead through: Linux's MAXSYMLINKS.
inline constexpr int kMaxLinks = 40;

/// Like Go's path/filepath.Clean, which Lima uses: removes ".", repeated and trailing slashes, and
/// ".." with the component before it. "" becomes ".". Does not access the file system.
std::string CleanPath(std::string_view path);

/// The part of `path` below `directory`, without a leading slash: "" for the directory itself,
/// nullopt if `path` is not under it. Compares whole components. Both paths must be clean and
/// absolute.
std::optional<std::string> PathBelow(std::string_view path, std::string_view directory);

/// `directory`/`rest`; the directory itself when `rest` is empty.
std::string JoinPath(std::string_view directory, std::string_view rest);

/// The path without its last component: "/" for "/a" and for "/". It must be clean and absolute.
std::string ParentPath(std::string_view path);

/// The last component: "b" for "/a/b", "" for "/". The path must be clean and absolute. Returns a
/// view into `path`.
std::string_view LastComponent(std::string_view path);

}  // namespace support
