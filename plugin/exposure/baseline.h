#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "exposure/state.h"

namespace exposure {

/// What a project on a mount was when the user last accepted it. It is kept in the instance's
/// directory, where the guest cannot write.
struct Baseline {
  std::string top;        ///< the project
  std::string last_seen;  ///< the Digest of its state when the last session ended
  State state;
};

std::string Digest(const State& state);

/// That of `directory`, or of the nearest one above that has one, which covers it. Which
/// repository it is in does not count: the guest may have made that.
std::optional<Baseline> FindBaseline(const std::filesystem::path& instance_directory,
                                     const std::filesystem::path& directory);

/// Throws support::Error.
void Save(const std::filesystem::path& instance_directory, const Baseline& baseline);

}  // namespace exposure
