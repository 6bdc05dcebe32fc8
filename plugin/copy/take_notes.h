// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "copy/side_repository.h"
#include "exposure/commits.h"
#include "exposure/report.h"

namespace copy {

/// Adds what else the user should know of a change before taking it: files of git LFS, and, with
/// `branch`, ignored files of the user's that git would overwrite.
void AddTakeNotes(const git::Git& users, const exposure::CommitChanges& changes,
                  const std::string& branch, exposure::Report& report);

}  // namespace copy
