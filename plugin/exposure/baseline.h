// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "exposure/state.h"

namespace exposure {

/// The state of a project on a mount when the user last accepted it. Kept in the instance's
/// directory, where the guest cannot write.
struct Baseline {
  std::string top;  ///< the project
  State state;
};

/// The baseline of `directory`, or of the nearest directory above that has one. Ignores where the
/// repository begins: the guest may have made that.
std::optional<Baseline> FindBaseline(const std::filesystem::path& instance_directory,
                                     const std::filesystem::path& directory);

void Save(const std::filesystem::path& instance_directory, const Baseline& baseline);

}  // namespace exposure
