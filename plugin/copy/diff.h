// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "copy/side_repository.h"

namespace copy {

/// What to compare work with: the commit that was sent, or, if the user's gc has deleted it, an
/// empty tree.
std::string SentOrNothing(const SideRepository& side);

/// How many files differ between two commits.
std::size_t CountChanged(const SideRepository& side, const std::string& from,
                         const std::string& to);

/// Prints the differences between `sides`. To a terminal: readable, through a pager, nothing of it
/// raw. Else as a patch for `git apply`. With `only_names`: names and numbers of lines.
void PrintDiff(const Git& git, const Git::Arguments& sides, bool only_names);

/// A part of git's output for a terminal: lines that are printable, bounded, and coloured by their
/// first characters. Keeps the incomplete line in `rest`.
std::string TerminalLines(std::string_view bytes, std::string& rest);

}  // namespace copy
