// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "doctor/host_checks.h"
#include "guest/guest.h"
#include "support/child.h"

/// Checks in the guest, with an instance's server, which they use as an agent would.
namespace doctor {

/// The copies of the instance, and what is set aside; with `guest`, which may be null, also the
/// sizes of that.
Finding ListCopies(const lima::InstanceConfiguration& instance, guest::Guest* guest,
                   const support::Context& context);

/// The time in seconds since 1970: the guest's, and this host's before and after it was read.
struct ClockReading {
  std::int64_t before = 0;
  std::int64_t guest = 0;
  std::int64_t after = 0;
};

/// Throws support::Error if the guest prints no time.
ClockReading ReadClock(guest::Guest& guest, const support::Context& context);

/// A guest whose clock is off by more has a warning.
inline constexpr std::chrono::seconds kClockTolerance{5};

Finding CheckClock(const lima::InstanceConfiguration& instance, const ClockReading& reading);

/// Whether the guest's sshd forwards the port of the proxy. Opens a connection of its own.
Finding CheckProxy(const lima::SshEndpoint& endpoint, const support::Context& context);

/// Lists what the guest of a closed instance may reach.
Finding CheckAllowed(const lima::InstanceConfiguration& instance);

/// A server and its only client. Each function throws support::Error if the server exits or
/// prints anything but MCP, and support::Stopped at the context's deadline.
class ServerUnderTest {
 public:
  explicit ServerUnderTest(const std::vector<std::string>& command) : child_(command) {}

  /// Returns the result. Also throws support::Error for a protocol error.
  nlohmann::json Request(const std::string& method, const nlohmann::json& params,
                         const support::Context& context);

  /// Returns `structuredContent`. Also throws support::Error for a failed call.
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

}  // namespace doctor
