#pragma once

#include <filesystem>

namespace testing_support {

/// A new empty directory with a short path (socket names must fit into 104 bytes), mode 0700,
/// removed with everything in it by the destructor. Its path is free of symbolic links.
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
