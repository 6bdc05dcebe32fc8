#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"

namespace files {

/// Temporary files are called `.limactl-mcp-1`, `.limactl-mcp-2`, … All servers share these names,
/// so that a server meets what another one left without listing the directory.
inline constexpr std::string_view kTemporaryPrefix = ".limactl-mcp-";

/// How many names of other servers a write meets before it gives up.
inline constexpr std::size_t kMostTaken = 16;

/// A temporary file that is older than this belongs to no write: calls end within a minute.
inline constexpr std::chrono::minutes kLeftoverAge{10};

/// The names that this server uses now. Thread-safe.
class TemporaryNames {
 public:
  /// The names that one temporary file keeps for itself. One thread; must not outlive the names.
  class Claims {
   public:
    explicit Claims(TemporaryNames& names) : names_(names) {}
    ~Claims();
    Claims(const Claims&) = delete;
    Claims& operator=(const Claims&) = delete;

    /// False when `path` is claimed already.
    bool Add(const std::string& path);

   private:
    TemporaryNames& names_;
    std::vector<std::string> paths_;
  };

 private:
  std::mutex mutex_;
  std::set<std::string> claimed_;
};

/// A new file that the destructor removes unless RenameTo was called. The destructor waits five
/// seconds at most, also after a cancel, and logs why it could not remove the file.
///
/// Only a file that this object is known to have made is renamed or removed: the same name may be
/// another server's. A file therefore stays if the guest does not answer whether it was made or
/// renamed, or if the connection breaks. RemoveLeftovers of a later write that meets it removes it:
/// the next one for number 1, for others the next that runs while the lower numbers are in use.
///
/// One thread. The arguments must outlive it.
class TemporaryFile {
 public:
  /// Makes the file with the lowest number that is free, `permissions` less the guest's umask.
  /// Throws guest::FileError, also when kMostTaken names are taken. One round trip; two more for
  /// each name that is taken.
  TemporaryFile(const std::string& directory, std::uint32_t permissions, TemporaryNames& names,
                guest::Guest& guest, const support::Context& context);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// guest::OpenFile::WriteAndClose.
  void WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions);

  /// Replaces `target` atomically. Only RemoveLeftovers may follow.
  void RenameTo(const std::string& target);

  /// Call it instead of RenameTo to hear about errors.
  void Remove();

  /// Removes the files whose names were taken and which are older by kLeftoverAge than `written`,
  /// a file in the same directory that was just written. No round trip if no name was taken; else
  /// one, and one or two for each. Errors are logged.
  void RemoveLeftovers(const std::string& written);

 private:
  guest::Guest& guest_;
  const support::Context& context_;
  TemporaryNames::Claims claims_;
  std::vector<std::string> taken_;  ///< claimed too, so that no two calls remove the same file
  std::string path_;
  std::unique_ptr<guest::OpenFile> file_;
  bool is_ours_ = false;
};

}  // namespace files
