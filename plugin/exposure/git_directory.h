// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

/// The files in git's own directory, and in `.hg/` and `.jj/` beside it. A path is that from git's
/// directory, or begins with one of these two names.
namespace exposure {

enum class GitFile : std::uint8_t {
  kUnknown,        ///< git may run or obey it
  kConfiguration,  ///< settings, of which each counts
  kText,           ///< data if it HasItsForm
  kData,           ///< nothing that git runs or obeys
};
GitFile KindOfGitFile(std::string_view path);

enum class GitDirectory : std::uint8_t {
  kUnknown,
  kObeyed,  ///< git makes it, and obeys files or repositories in it
  kData,
};
GitDirectory KindOfGitDirectory(std::string_view path);

/// Whether a text is that of a reference, or the beginning of a log, or references without a
/// replacement. `path` is of GitFile::kText.
bool HasItsForm(std::string_view path, std::string_view text);

}  // namespace exposure
