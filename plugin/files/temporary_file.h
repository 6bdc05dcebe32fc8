#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"

namespace files {

/// Temporary files are called `.limactl-mcp-1`, `.limactl-mcp-2`, …, in every server. So a server
/// meets what a killed one left without listing the directory.
inline constexpr std::string_view kTemporaryPrefix = ".limactl-mcp-";

/// A write fails if other servers use this many names in its directory.
inline constexpr std::size_t kMostTaken = 16;

/// No write uses an older temporary file: calls end within a minute.
inline constexpr std::chrono::minutes kLeftoverAge{10};

/// A new file that the destructor removes unless RenameTo was called. The destructor waits at most
/// five seconds, also after a cancel, and logs why it could not remove the file.
///
/// It removes and renames only a file that it certainly created: the same name may be another
/// server's. So a file stays if the guest does not answer, or the connection breaks;
/// RemoveLeftovers of a later write in the directory removes it.
///
/// Of one server, only one may exist in a directory at a time. One thread. The arguments must
/// outlive it.
class TemporaryFile {
 public:
  /// Creates the file with the lowest free number; `permissions` pass through the guest's umask.
  /// Throws guest::FileError, also if kMostTaken names are taken. One round trip, and two for each
  /// taken name.
  TemporaryFile(const std::string& directory, std::uint32_t permissions, guest::Guest& guest,
                const support::Context& context);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// guest::OpenFile::WriteAndClose.
  void WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions);

  /// Replaces `target` atomically. Only RemoveLeftovers may follow.
  void RenameTo(const std::string& target);

  /// Removes the files with the taken names that are older by kLeftoverAge than `written`, a file
  /// in the same directory that was just written. Logs errors. At most two round trips; none if no
  /// name was taken.
  void RemoveLeftovers(const std::string& written);

 private:
  guest::Guest& guest_;
  const support::Context& context_;
  std::vector<std::string> taken_;
  std::string path_;
  std::unique_ptr<guest::OpenFile> file_;
  bool is_ours_ = false;
};

}  // namespace files
