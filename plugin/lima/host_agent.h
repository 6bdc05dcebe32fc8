#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>

namespace lima {

/// Lima's own patience with its host agent (pkg/store/instance.go).
inline constexpr std::chrono::seconds kHostAgentTimeout{3};

/// Bytes of a whole answer, head and body.
inline constexpr std::size_t kMaximumHostAgentAnswer = std::size_t{1024} * 1024;

/// The host agent of an instance did not answer as it should; what() says how.
class HostAgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct HostAgentInfo {
  std::uint16_t ssh_local_port = 0;  ///< 0 while the agent does not know it yet
};

/// Asks GET /v1/info over the Unix socket `socket` (an instance's ha.sock). Returns or throws
/// HostAgentError within `timeout`, whatever the other side does. Rule: Lima's
/// pkg/hostagent/api/client.
HostAgentInfo AskHostAgent(const std::filesystem::path& socket,
                           std::chrono::milliseconds timeout = kHostAgentTimeout);

}  // namespace lima
