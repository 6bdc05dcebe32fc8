// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The files in git's own directory, and in `.hg/` and `.jj/` beside it. A path is that from git's
/// directory, or begins with one of these two names. What is not known to be data may be obeyed.
namespace exposure {

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
