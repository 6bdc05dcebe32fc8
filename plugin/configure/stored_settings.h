// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "support/file_descriptor.h"

namespace configure {

/// Larger settings files are refused.
inline constexpr std::size_t kMaxSettingsBytes = std::size_t{16} << 20;

/// A settings file on the disk. Links in a project are refused, since the guest could make them
/// point to files of the host; the user's own are followed. Every function throws
/// support::Error or std::filesystem::filesystem_error.
class StoredSettings {
 public:
  /// Reads the file, which need not exist. `project`, if it is a file of one, is above `path`.
  StoredSettings(std::filesystem::path path, const std::optional<std::filesystem::path>& project);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// `path` with links resolved.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  [[nodiscard]] bool is_link() const { return std::filesystem::is_symlink(path_); }

  /// Empty if there was no file.
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }

  /// Replaces the file as a whole, and keeps its owner and mode; a new file of the user's own is
  /// for the user alone. Fails if it has changed.
  void Write(const std::string& text) const;

  /// Removes the file, and the directories of the project that are empty then. Fails if it has
  /// changed.
  void Remove() const;

 private:
  /// The file's. With `make`, makes what is missing; without it, the result may be invalid.
  [[nodiscard]] support::FileDescriptor OpenDirectory(bool make) const;
  [[nodiscard]] std::optional<std::string> Read() const;
  void RequireUnchanged() const;

  std::filesystem::path path_;
  std::filesystem::path target_;
  std::filesystem::path trusted_;  ///< no link is followed below this directory
  unsigned new_mode_;
  std::optional<std::string> text_;
};

}  // namespace configure
