// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace copy {

/// Prints what differs between HEAD and the working tree at `top`, untracked files included, as
/// PrintDiff does. What the guest may have configured there runs nothing and hides nothing:
/// git works in the side repository, with an index of its own, and borrows the project's objects.
/// Throws support::Error, also if a file has more than `max_size` bytes.
void PrintWorkingTree(const std::filesystem::path& instance_directory,
                      const std::filesystem::path& top, bool only_names, std::uint64_t max_size);

}  // namespace copy
