// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

/// The files in git's own directory, and in `.hg/` and `.jj/` beside it. A path is that from git's
/// directory, or begins with one of these two names. What is not known to be data may be obeyed.
namespace exposure {

/// git's directory for the working tree at `top`, and the one that all working trees of the
/// repository share. Found without git, which would obey the repository's settings.
std::pair<std::filesystem::path, std::filesystem::path> GitDirectory(
    const std::filesystem::path& top);

/// The first line of one of git's files; empty if it cannot be read.
std::string FirstLine(const std::filesystem::path& file);

/// Whether git, hg or jj itself makes a file of that name, and neither runs nor obeys it.
bool IsData(std::string_view path);

/// Whether a text is what is expected there: a reference, the beginning of a log, or references
/// without a replacement.
bool HasKnownForm(std::string_view path, std::string_view text);

/// Whether it normally has only data.
bool IsDataDirectory(std::string_view path);

/// Whether git makes it, and obeys files or repositories in it.
bool IsObeyedDirectory(std::string_view path);

}  // namespace exposure
