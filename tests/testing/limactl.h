#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testing/child_process.h"
#include "testing/temporary_directory.h"

namespace testing_support {

/// A real limactl: the one on PATH, else the one from LIMACTL_MCP_LIMA_ARCHIVE. limactl refuses to
/// run as root; root runs it as user 65534 (nobody), who must own the directories: see GiveAway.
class Limactl {
 public:
  /// Throws std::runtime_error with the reason why there is none; tests skip with it.
  Limactl();

  [[nodiscard]] const std::filesystem::path& program() const { return program_; }

  /// The user that limactl runs as.
  [[nodiscard]] uid_t user_id() const { return user_id_; }

  /// Makes limactl's user the owner of `directory` and everything in it.
  void GiveAway(const std::filesystem::path& directory) const;

  /// `limactl arguments…` for ChildProcess, with HOME, LIMA_HOME and `environment`.
  [[nodiscard]] ChildProcess::Options Command(
      const std::vector<std::string>& arguments, const std::filesystem::path& home,
      const std::filesystem::path& lima_home,
      std::map<std::string, std::optional<std::string>> environment = {}) const;

  [[nodiscard]] ProcessResult Run(const std::vector<std::string>& arguments,
                                  const std::filesystem::path& home,
                                  const std::filesystem::path& lima_home) const;

 private:
  [[nodiscard]] ProcessResult TryVersion() const;

  std::filesystem::path program_;
  uid_t user_id_;
  std::shared_ptr<const TemporaryDirectory> copy_;  ///< if nobody cannot read the original
};

}  // namespace testing_support
