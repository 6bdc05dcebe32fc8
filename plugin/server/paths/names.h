// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Names in a project: as file systems compare them, and as people read them.
namespace paths {

/// A name as the host's file systems may compare it, but with the case of ASCII letters:
///   after Unicode's full case folding ("\u017f" is "s"): APFS
///   without the code points that HFS+ and ext4's case folding ignore, such as U+200C
///   without dots and spaces at the end, and without a stream ("::$INDEX_ALLOCATION"): NTFS
///   "git~1" is ".git": NTFS, as git's is_ntfs_dotgit() has it
std::string FoldName(std::string_view name);

/// A key for comparing paths: equal for paths that some file system does not tell apart.
std::string Folded(std::string_view path);

/// Whether it has characters that a terminal does not show as they are.
bool HasHidden(std::string_view name);

/// Printable and bounded; code points that are not seen become \xHH. In quotes if it could pose as
/// more than a name.
std::string Visible(std::string_view name);

/// A name as a word of a printed command: visible, and never more than a word.
std::string Word(std::string_view name);

/// The first names, and how many more there are.
std::string List(const std::vector<std::string>& names, std::size_t most = 3);

/// Whether a link at `path` may lead out of the project, or into a repository's settings.
bool LeadsOut(std::string_view path, std::string_view target);

}  // namespace paths
