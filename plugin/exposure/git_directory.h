// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The files in git's own directory.
namespace exposure {

/// The kind of a file there, by its path from the directory.
enum class GitFile {
  kUnknown,        ///< git may run or obey it
  kConfiguration,  ///< settings, of which each counts
  kReference,      ///< the name or id of a commit, if it says so
  kLog,            ///< of references, if its first line says so
  kData,           ///< nothing that git runs or obeys
};
GitFile KindOfGitFile(std::string_view path);

/// Whether git itself makes a directory of this path there, but not those whose content counts as
/// unknown, such as rebase-merge.
bool IsGitDirectory(std::string_view path);

/// Whether the content is that of a reference, or the beginning of a log.
bool IsReference(std::string_view content);
bool IsLog(std::string_view beginning);

}  // namespace exposure
