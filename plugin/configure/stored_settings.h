#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace configure {

/// Larger settings files are refused.
inline constexpr std::size_t kMaximumSettingsBytes = std::size_t{16} << 20;

/// A settings file on the disk. Links are followed when it is made. In a project, links that appear
/// later are not: a guest that mounts the project could make them lead to files of the host.
/// Everything throws support::CallError.
class StoredSettings {
 public:
  /// `path` need not exist. With `project`, a file that links lead out of that directory is
  /// refused. `mode` is that of a new file, less umask(2).
  StoredSettings(std::filesystem::path path, const std::optional<std::filesystem::path>& project,
                 unsigned mode);
  StoredSettings(StoredSettings&& other) noexcept;
  StoredSettings& operator=(StoredSettings&& other) noexcept;
  ~StoredSettings();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// `path` with links resolved.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  [[nodiscard]] bool is_link() const;

  /// What the file held when this object was made; empty if there was none.
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }

  /// Writes `text` into a temporary file beside the file, with its owner and mode.
  void Prepare(const std::string& text);

  /// Puts the prepared file in the place of the file. Without one, removes the file, and the
  /// directories above it, below `top`, that are empty then. Fails if the file has changed.
  void Commit(const std::filesystem::path& top);

 private:
  struct TemporaryFile;

  [[nodiscard]] std::optional<std::string> Read(struct stat& status) const;
  void Remove(const std::filesystem::path& top) const;

  std::filesystem::path path_;
  std::filesystem::path target_;
  std::filesystem::path trusted_;  ///< no link is followed below this directory
  unsigned mode_;
  std::optional<std::string> text_;
  struct stat status_ {};  ///< if there is a file
  std::unique_ptr<TemporaryFile> temporary_;
};

/// This program's directory below `xdg_state_home`, or below `home` if that is not absolute.
std::filesystem::path StateDirectory(const std::string& home, const std::string& xdg_state_home);

/// 16 hexadecimal digits, for the name of a file.
std::string Digest(std::string_view text);

}  // namespace configure
