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

/// A real limactl: the one on PATH, else the one that the build unpacked from
/// LIMACTL_MCP_LIMA_ARCHIVE. limactl refuses to run as root, so root runs it as user 65534
/// (nobody), who must be given the directories it works on: see GiveAway.
class Limactl {
 public:
  /// Throws std::runtime_error that says why there is none that works here; tests skip with it.
  Limactl();

  [[nodiscard]] const std::filesystem::path& program() const { return program_; }

  /// Who limactl runs as: this very user, or nobody.
  [[nodiscard]] uid_t user_id() const { return user_id_; }

  /// Lets limactl own `directory` with everything in it. Nothing to do unless this is root.
  void GiveAway(const std::filesystem::path& directory) const;

  /// `limactl arguments…` to be started by ChildProcess, with HOME, LIMA_HOME and `environment`
  /// set.
  [[nodiscard]] ChildProcess::Options Command(
      const std::vector<std::string>& arguments, const std::filesystem::path& home,
      const std::filesystem::path& lima_home,
      std::map<std::string, std::optional<std::string>> environment = {}) const;

  /// Runs it to its end.
  [[nodiscard]] ProcessResult Run(const std::vector<std::string>& arguments,
                                  const std::filesystem::path& home,
                                  const std::filesystem::path& lima_home) const;

 private:
  [[nodiscard]] ProcessResult TryVersion() const;

  std::filesystem::path program_;
  uid_t user_id_;
  std::shared_ptr<const TemporaryDirectory> copy_;  ///< where nobody cannot reach the original
};

}  // namespace testing_support
