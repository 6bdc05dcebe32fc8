// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace lima {

/// What tells one boot of this host from another. Each member is empty if the system does not say.
struct Boot {
  std::string id;
  std::chrono::system_clock::time_point start;  ///< moves when the clock is set
};

Boot ThisBoot();

/// How much older than the boot's start a file must be: the clock may have been set since.
inline constexpr std::chrono::seconds kBootMargin{60};

/// Whether a pid file was written before `boot`: by its time, or because `boot-session.tmp` beside
/// it, which Lima writes since 2.2.1 (WritePIDFile in pkg/store), has another id. Its number may be
/// that of any process now. False if the file is missing. Never throws.
bool IsOfEarlierBoot(const std::filesystem::path& pid_file, const Boot& boot = ThisBoot());

}  // namespace lima
