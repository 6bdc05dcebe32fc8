// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

namespace network {

/// What the guest asked for and did not get.
struct Denial {
  std::string target;   ///< HOST:PORT or, if it is none, any printable text
  std::string problem;  ///< why `limactl mcp allow` would not help; empty: it would

  bool operator<(const Denial& other) const {
    return std::tie(target, problem) < std::tie(other.target, other.problem);
  }
};

/// The command with which the user allows HOST:PORT.
std::string AllowCommand(const std::string& instance, std::string_view target);

/// The variable with which `run` names the servers a file for their denials.
inline constexpr const char* kDenialsVariable = "LIMACTL_MCP_DENIALS";

/// The denials of one server. Thread-safe.
class Denials {
 public:
  /// Others are only counted.
  static constexpr std::size_t kMaxKnown = 1000;
  /// Denials that a note names, and the end of `run`.
  static constexpr std::size_t kMaxShown = 10;
  /// Of the file; later ones are left out.
  static constexpr std::size_t kMaxLines = 10'000;

  /// `file`, if not empty, gets a line for each, for DescribeDenials.
  explicit Denials(std::string instance, std::filesystem::path file = {})
      : instance_(std::move(instance)), file_(std::move(file)) {}

  void Add(const Denial& denial);

  /// How many there have been.
  [[nodiscard]] std::size_t count() const;

  /// For the agent: those after the first `seen`. Empty if there are none.
  [[nodiscard]] std::string NoteSince(std::size_t seen) const;

  /// The same for a process: those since its last note, for the first one after `seen`.
  std::string NoteFor(const std::string& process, std::size_t seen = 0);

 private:
  const std::string instance_;
  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::map<Denial, std::size_t> last_;  ///< the number of each one's last
  std::size_t last_other_ = 0;
  std::map<std::string, std::size_t> seen_;  ///< by processes
  std::size_t count_ = 0;
};

/// For the user: what the servers of one session have denied. Empty if they have denied nothing.
std::string DescribeDenials(const std::filesystem::path& file, const std::string& instance);

}  // namespace network
