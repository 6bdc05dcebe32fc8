#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>

namespace lima {

/// Lima's own timeout for its host agent (pkg/store/instance.go).
inline constexpr std::chrono::seconds kHostAgentTimeout{3};

/// Most bytes of a whole response.
inline constexpr std::size_t kMaxHostAgentResponse = std::size_t{1024} * 1024;

/// The host agent did not respond, or its response is invalid.
class HostAgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The port of the guest's sshd on this host, or 0 while the agent does not know it yet: GET
/// /v1/info over the Unix socket `socket` (an instance's ha.sock). Throws HostAgentError; waits at
/// most about `timeout`. Follows Lima's pkg/hostagent/api/client.
std::uint16_t QueryHostAgent(const std::filesystem::path& socket,
                             std::chrono::milliseconds timeout = kHostAgentTimeout);

}  // namespace lima
