// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "copy/copy.h"
#include "copy/take.h"

/// The states of a copy's files that programs/checkpoint.sh keeps in the guest: `log`, `undo` and
/// `diff --since`. They make one first, of now. Each function throws support::Error.
namespace copy {

/// Makes one of the files as they were sent. A failure is a warning.
void KeepAsSent(Copy& copy);

/// Makes one for a server, which has the copy in use, unless another command works in it.
void KeepState(const std::filesystem::path& instance_directory, const Choice& choice,
               guest::Guest& guest, const std::string& note, const support::Context& context);

/// Prints all, the newest first.
void PrintLog(Copy& copy);

/// Prints all, the oldest first, and then those that are made, until standard output is closed.
/// Meanwhile it holds no lock.
void FollowLog(const Instance& instance, const Choice& choice);

/// Puts the files back as at `number`: 0 is as they were sent; empty, the state before. Prints what
/// was done. `ask`: if an agent works in the copy; empty if the answer is yes.
void Undo(Copy& copy, const std::string& number, const Ask& ask);

/// Prints what has changed since `number`.
void PrintDiffSince(Copy& copy, const std::string& number, bool only_names, std::uint64_t max_size);

}  // namespace copy
