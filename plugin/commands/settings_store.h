#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

namespace commands {

/// Larger settings files are refused.
inline constexpr std::size_t kMaximumSettingsBytes = std::size_t{16} << 20;

/// A settings file of an agent on the disk. Links are followed, and stay; those that appear in a
/// project later are not, since a guest that it is mounted in could make them lead to files of the
/// host.
class StoredSettings {
 public:
  /// `path` need not exist. With `project`, a file that links lead out of that directory is
  /// refused. `mode` is what a new file gets, less what umask(2) takes. Throws support::CallError.
  StoredSettings(std::filesystem::path path, const std::optional<std::filesystem::path>& project,
                 unsigned mode);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Where the links lead.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  /// Whether the file itself is a link, which then is somebody's and stays.
  [[nodiscard]] bool is_link() const;

  /// The text that was there when this object was made; empty when there was no file.
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }

  /// Puts `text` in the place of the file as a whole, never a part of it; an empty optional removes
  /// the file, and the directories above it that are then empty, up to `top`, which no link leads
  /// through. Mode and owner stay. Throws support::CallError, also when the file has changed since
  /// it was read.
  void Replace(const std::optional<std::string>& text, const std::filesystem::path& top) const;

  /// Undoes a Replace with the same arguments, also one that failed: the text that was there comes
  /// back, with its mode and owner. Throws support::CallError, also when the file has been changed
  /// since.
  void Restore(const std::optional<std::string>& replaced_by,
               const std::filesystem::path& top) const;

 private:
  /// What is there now, with what stat(2) tells of it.
  [[nodiscard]] std::optional<std::string> Read(struct stat& status) const;
  void Put(const std::optional<std::string>& text, const std::filesystem::path& top) const;
  void Write(const std::string& text) const;
  /// Those above the removed file, below `top`.
  void RemoveEmptyDirectories(const std::filesystem::path& top) const;

  std::filesystem::path path_;
  std::filesystem::path target_;
  /// The directory above `target_` below which no link is followed.
  std::filesystem::path trusted_;
  unsigned mode_;
  std::optional<std::string> text_;
  struct stat status_ {};  ///< of the file that was there
};

}  // namespace commands
