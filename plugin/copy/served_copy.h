// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "connection/instance.h"
#include "copy/side_repository.h"
#include "lima/mounts.h"

namespace copy {

/// The copy as the only root of `serve --copy`. One with a name has one path, the guest's: the
/// host's is that of the copy without one. Until the connection ends, the copy is neither replaced
/// nor dropped.
connection::OnlyRoot ServedCopy(const std::filesystem::path& lima_home, const std::string& instance,
                                const Choice& choice);

/// Throws support::Error if a mount of the instance contains or lies in the copy's directory.
void RequireNoMount(const std::vector<lima::Mount>& mounts, const CopyFacts& facts,
                    const std::string& instance);

}  // namespace copy
