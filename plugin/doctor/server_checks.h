#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "lima/mounts.h"
#include "support/child.h"
#include "support/context.h"

/// Checks of an instance's server, which use it as an agent would.
namespace doctor {

/// A server and its only client. Each function throws support::CallError if the server exits or
/// prints anything but MCP, and support::Stopped at the context's deadline.
class ServerUnderTest {
 public:
  explicit ServerUnderTest(const std::vector<std::string>& command) : child_(command) {}

  /// Returns the result. Also throws support::CallError for a protocol error.
  nlohmann::json Request(const std::string& method, const nlohmann::json& params,
                         const support::Context& context);

  /// Returns `structuredContent`. Also throws support::CallError for a failed call.
  nlohmann::json CallTool(const std::string& name, const nlohmann::json& arguments,
                          const support::Context& context);

 private:
  support::Child child_;
  int next_id_ = 1;
};

/// Initializes the server and counts its tools.
Finding CheckServer(ServerUnderTest& server, const support::Context& context);

using Mounts = std::vector<lima::Mount>;

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
