// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "connection/instance.h"

namespace copy {

/// The copy of the host's `project` as the only root of `serve --copy`. Until the connection ends,
/// the copy is neither replaced nor dropped.
connection::OnlyRoot ServedCopy(const std::filesystem::path& lima_home, const std::string& instance,
                                const std::string& project);

}  // namespace copy
