// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "copy/side_repository.h"
#include "exposure/commits.h"

/// Changes of the working tree by `take`, and the way back. Each function throws support::Error.
namespace copy {

/// What changed from what was applied last to the work.
struct Patch {
  exposure::CommitChanges changes;
  std::filesystem::path file;  ///< for `git apply`; more than `max_size`: only its beginning
  std::uint64_t max_size = 0;
};

/// `tree`: that of the work, if it is known. The file is in the scratch directory.
Patch ReadPatch(const SideRepository& side, git::TreeEntries tree, std::uint64_t max_size);

/// Paths of which a change takes away more than the user may expect.
struct Losses {
  /// The user's uncommitted work, which was sent and is as in the commit below it again.
  std::vector<std::string> work;
  /// Files that a filter or a rule for line ends converts: it may keep less than they have.
  std::vector<std::string> converted;
};

/// Asks whether to go on in spite of the losses, if need be: returns whether it has asked, and
/// throws if the answer is no.
using Consent = std::function<bool(const Losses&)>;

/// Applies the patch to the user's working tree, with the user's `git apply`: all, or every file is
/// put back. A patch above its `max_size` is refused. Returns how many paths changed.
std::size_t ApplyWork(const Git& users, SideRepository& side, const Patch& patch,
                      const Consent& consent);

/// Puts the working tree back if one of these functions was killed. Returns a sentence for the
/// user, or nothing. Throws support::Error if that is not possible.
std::string UndoInterruptedApply(SideRepository& side);

/// Puts back the files that ApplyWork or this has changed last, so that another call reverses it.
/// Without `force`, refuses if one was changed since. Returns how many.
std::size_t UndoApply(SideRepository& side, bool force);

}  // namespace copy
