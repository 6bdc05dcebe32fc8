// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "copy/side_repository.h"
#include "doctor/host_checks.h"
#include "guest/guest.h"
#include "support/child.h"

/// Checks in the guest: what work in a copy needs, and an instance's server, which they use as an
/// agent would.
namespace doctor {

/// The project of the copy, and what was not taken of it, unless the context is stopped before.
std::string DescribeCopy(const lima::InstanceConfiguration& instance, const copy::CopyFacts& facts,
                         guest::Guest& guest, const support::Context& context);

/// Facts that copies depend on. Versions are as `git --version` prints them, empty without one.
struct CopyNeeds {
  std::string host_git = {};
  std::string git = {};                               ///< in the guest
  bool may_sudo = false;                              ///< there, without a password
  std::string free_megabytes = {};                    ///< in the home directory there
  std::map<std::string, std::string> set_aside = {};  ///< SetAside::name -> its KB
};

/// `git` is the host's.
CopyNeeds QueryCopyNeeds(guest::Guest& guest, const std::optional<std::filesystem::path>& git,
                         const support::Context& context);

/// The time in seconds since 1970: the guest's, and this host's before and after it was read.
struct ClockReading {
  std::int64_t before = 0;
  std::int64_t guest = 0;
  std::int64_t after = 0;
};

/// Throws support::CommandError if the guest prints no time.
ClockReading ReadClock(guest::Guest& guest, const support::Context& context);

/// A guest whose clock is off by more has a warning.
inline constexpr std::chrono::seconds kClockTolerance{5};

Finding CheckClock(const lima::InstanceConfiguration& instance, const ClockReading& reading);

/// What is set aside, with sizes.
std::vector<std::string> DescribeSetAside(const lima::InstanceConfiguration& instance,
                                          const CopyNeeds& needs);

/// `copies` are those there are, and `aside` what is set aside. Warns of what is missing.
Finding CheckCopies(const std::vector<std::string>& copies, const std::vector<std::string>& aside,
                    const CopyNeeds& needs);

/// A server and its only client. Each function throws support::CommandError if the server exits or
/// prints anything but MCP, and support::Stopped at the context's deadline.
class ServerUnderTest {
 public:
  explicit ServerUnderTest(const std::vector<std::string>& command) : child_(command) {}

  /// Returns the result. Also throws support::CommandError for a protocol error.
  nlohmann::json Request(const std::string& method, const nlohmann::json& params,
                         const support::Context& context);

  /// Returns `structuredContent`. Also throws support::CommandError for a failed call.
  nlohmann::json CallTool(const std::string& name, const nlohmann::json& arguments,
                          const support::Context& context);

 private:
  support::Child child_;
  int next_id_ = 1;
};

/// Initializes the server and counts its tools.
Finding CheckServer(ServerUnderTest& server, const support::Context& context);

/// Lists each mount in the guest. Skipped if there are none; the checks below need one.
Finding CheckMounted(ServerUnderTest& server, const Mounts& mounts,
                     const support::Context& context);

/// Runs `true`. Start-up files that print are a warning.
Finding CheckShell(ServerUnderTest& server, const Mounts& mounts, const support::Context& context);

/// Writes a file in each writable mount, and removes it on the host.
Finding CheckWrite(ServerUnderTest& server, const Mounts& mounts, const support::Context& context);

Finding CheckFind(ServerUnderTest& server, const Mounts& mounts, const support::Context& context);

Finding CheckGit(ServerUnderTest& server, const Mounts& mounts, const support::Context& context);

}  // namespace doctor
