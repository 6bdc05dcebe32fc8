// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace network {

/// The command with which the user allows HOST:PORT.
std::string AllowCommand(const std::string& instance, std::string_view site);

/// The variable with which `run` names the servers a file for their denials.
inline constexpr const char* kDenialsVariable = "LIMACTL_MCP_DENIALS";

/// What the guest asked one server for and did not get. Thread-safe.
class Denials {
 public:
  /// Different ones; later ones are "others".
  static constexpr std::size_t kMaxKnown = 1000;
  /// That a note names, and the end of `run`.
  static constexpr std::size_t kMaxShown = 10;
  /// Of the file; later ones are left out.
  static constexpr std::size_t kMaxLines = 10'000;

  /// `file`, if not empty, gets a line for each, for DescribeDenials.
  explicit Denials(std::string instance, std::filesystem::path file = {})
      : instance_(std::move(instance)), file_(std::move(file)) {}

  /// `target` is HOST:PORT or any printable text; `problem` says why AllowCommand would not help.
  void Add(const std::string& target, const std::string& problem = "");

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
  std::map<std::string, std::size_t> last_;  ///< "HOST:PORT" or "HOST:PORT (PROBLEM)"
  std::map<std::string, std::size_t> seen_;  ///< by processes
  std::size_t count_ = 0;
};

/// For the user: what the servers of one session have denied. Empty if they have denied nothing.
std::string DescribeDenials(const std::filesystem::path& file, const std::string& instance);

}  // namespace network
