// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "copy/side_repository.h"

namespace copy {

/// How long `drop` keeps a copy.
inline constexpr std::chrono::days kKept{14};

/// A copy that `drop` has set aside: renamed in the guest, and its side repository here.
struct SetAside {
  CopyFacts facts;
  std::filesystem::path repository;
  std::int64_t time = 0;  ///< in seconds since 1970; another one for each in an instance
  std::string name;       ///< below ~/.cache/limactl-mcp/dropped: A-Z, a-z, 0-9, ".", "_" and "-"

  [[nodiscard]] bool IsOld() const;
};

/// Newest first; of all copies, or of that of a place. Needs no lock.
std::vector<SetAside> ListSetAside(const std::filesystem::path& instance_directory,
                                   const SidePlace* place = nullptr);

/// What would be set aside now.
SetAside NewSetAside(const SidePlace& place, const CopyFacts& facts);

/// The same place, for a SideRepository of what is set aside.
SidePlace PlaceOf(SidePlace place, const SetAside& aside);

/// The last part of a path, with "-" for all but A-Z, a-z, 0-9, ".", "_" and "-".
std::string PlainName(const std::string& path);

}  // namespace copy
