#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace configure {

/// Larger settings files are refused.
inline constexpr std::size_t kMaximumSettingsBytes = std::size_t{16} << 20;

/// A settings file on the disk. Links are followed when it is read. Links that appear in a project
/// later are not followed: the guest could make them point to files of the host. Every function
/// throws support::CallError.
class StoredSettings {
 public:
  /// Reads the file, which need not exist. With `project`, a link out of that directory
  /// is refused. `mode` is that of a new file, less umask(2).
  StoredSettings(std::filesystem::path path, const std::optional<std::filesystem::path>& project,
                 unsigned mode);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// `path` with links resolved.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  [[nodiscard]] bool is_link() const { return is_link_; }

  /// Empty if there was no file.
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }

  /// Replaces the file as a whole, and keeps its owner and mode. Fails if it has changed.
  void Write(const std::string& text) const;

  /// Removes the file, and the directories above it, below `top`, that are empty then. Fails if it
  /// has changed.
  void Remove(const std::filesystem::path& top) const;

 private:
  [[nodiscard]] std::optional<std::string> Read() const;
  void RequireUnchanged() const;

  std::filesystem::path path_;
  std::filesystem::path target_;
  bool is_link_;
  std::filesystem::path trusted_;  ///< no link is followed below this directory
  unsigned mode_;
  std::optional<std::string> text_;
};

}  // namespace configure
