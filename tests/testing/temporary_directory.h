// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace testing_support {

/// A new directory below $TEST_TMPDIR, or /tmp, with mode 0700, removed by the destructor. Its path
/// has no symbolic links and is short: socket names have at most 104 bytes.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace testing_support
