// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "copy/copy.h"

namespace copy {

/// Added to the number of a signal.
inline constexpr int kKilled = 128;

/// A copy that an agent may work in.
struct PreparedCopy {
  FileLock use;          ///< keeps the copy as it is
  std::string project;   ///< its path on the host
  int setup_status = 0;  ///< 1: it failed, or is due and was not run; kKilled and more: by a signal
};

/// Send, and then the set-up command if it is due: after a send that made or replaced the copy, if
/// it is new, if the last one did not come to its end, or if it is wanted again. Its output, and
/// what to know, go to standard error. While it runs, other commands work with the copy. Any end of
/// this process ends it, too. Throws support::Error.
PreparedCopy PrepareCopy(const Instance& instance, const Choice& choice,
                         const SendOptions& options);

/// For the agent: a line on a set-up command that has failed or was not run. Needs no lock.
std::string SetupNote(const std::filesystem::path& instance_directory, const Choice& choice);

}  // namespace copy
