// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "copy/copy.h"
#include "exposure/report.h"

/// What `take` does, and prints. Each function throws support::Error.
namespace copy {

/// Brings all work as branches. `name`: that of HEAD's. `ask`: empty if the answer is yes. Returns
/// the exit code.
int TakeBranches(Copy& copy, const std::optional<std::string>& name, std::uint64_t max_size,
                 const Ask& ask);

/// Applies HEAD's work to the working tree. Returns the exit code.
int TakeFiles(Copy& copy, std::uint64_t max_size, const Ask& ask);

/// Undoes that. With `force`, also files that were changed since.
void UndoTake(Copy& copy, bool force);

/// Adds to a report on a branch the user's ignored files that stand where the changes have new
/// ones, whatever their case: git overwrites them.
void AddOverwritten(const Git& users, const std::vector<exposure::Change>& changes,
                    exposure::Report& report);

}  // namespace copy
