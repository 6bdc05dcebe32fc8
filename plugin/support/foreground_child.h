// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace support {

/// Replaces this process by a program, found on PATH unless its name has a slash. Throws
/// std::system_error.
[[noreturn]] void Become(std::vector<std::string> command);

/// Calls `start`, which ends with Become, in a child, and waits until that exits. Returns its exit
/// code, or 128 plus the number of the signal that killed it.
///
/// To the caller's shell and terminal the program is as if this process had become it. Both are in
/// one process group, so the terminal is the program's too and its signals reach it; this one
/// leaves them to the program, and passes on INT, TERM, HUP, QUIT and TSTP that it gets alone. What
/// was ignored stays ignored by both. It stops while the program is stopped. One thread, and no
/// other may run.
int RunInForeground(const std::function<void()>& start);

}  // namespace support
