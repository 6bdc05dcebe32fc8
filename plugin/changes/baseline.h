#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "changes/state.h"

namespace changes {

/// What a project on a mount was when the user last accepted it. It is kept in the instance's
/// directory, where the guest cannot write.
struct Baseline {
  std::string top;        ///< the project
  std::string last_seen;  ///< the Digest of its state when the last session ended
  State state;

  [[nodiscard]] bool is_of_repository() const { return state.items.contains({".git", ""}); }
};

std::string Digest(const State& state);

/// That of `directory`, or of the nearest one above that has one. If `directory` is in a
/// repository, only that of its `top`, or of a repository: the guest may have made the nearest one.
std::optional<Baseline> FindBaseline(const std::filesystem::path& instance_directory,
                                     const std::filesystem::path& directory,
                                     const std::optional<std::filesystem::path>& top);

/// Throws support::CallError.
void Save(const std::filesystem::path& instance_directory, const Baseline& baseline);

}  // namespace changes
