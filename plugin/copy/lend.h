// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "copy/copy.h"
#include "exposure/commits.h"

/// Files that the user lends to a copy: git does not track them, they are sent as they are, and
/// they are never work. CopyFacts::lent has a line for each name that the user has answered for:
/// the id of the content that was sent last, nothing yet, or "no"; a tab; the name.
namespace copy {

/// At once.
inline constexpr std::size_t kMaxLent = 1000;
inline constexpr std::uint64_t kMaxLentSize = std::uint64_t{100} << 20;

/// Sorted, without those that the user does not lend.
std::vector<std::string> LentNames(const CopyFacts& facts);

/// Adds to the facts what the options and .worktreeinclude name, if the user lends it. Returns
/// names of the latter that wait for an answer. Throws support::Error.
std::vector<std::string> ChooseLent(const Project& project, const Git& users,
                                    const SendOptions& options, CopyFacts& facts,
                                    exposure::Notes& notes);

/// Removes what the commit has.
void ForgetTracked(const SideRepository& side, const std::string& commit, CopyFacts& facts);

/// Sends the files into the copy, and notes so in the facts; unless `all`, those that are new or
/// have changed here. Throws support::Error.
void SendLent(Copy& copy, bool all, CopyFacts& facts, exposure::Notes& notes);

/// The ids of what was sent.
std::set<std::string> LentIds(const CopyFacts& facts);

/// The changes with a lent name, or, under any name, with the bytes of a lent file that has 16 or
/// more.
std::vector<std::string> FindLent(const SideRepository& side,
                                  const std::vector<exposure::Change>& changes);

}  // namespace copy
