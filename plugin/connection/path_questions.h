#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "guest/no_file_server.h"

namespace connection {

/// Bytes of a path that a guest answers with: Linux's PATH_MAX counts the NUL at its end too, and
/// macOS takes 1024. What is longer is a guest::FileError.
inline constexpr std::size_t kLongestPath = 4095;

/// A guest whose paths can be resolved also where it has no SFTP server (guest::NoFileServer):
/// Stat, LStat, ReadLink, RealPath and FindRealFile then ask readlink(1) and stat(1), GNU's or
/// BusyBox's. So commands, glob and search work in such a guest; all other file operations go on
/// saying what is missing. Thread-safe.
class PathQuestions final : public guest::Guest {
 public:
  explicit PathQuestions(std::shared_ptr<guest::Guest> guest) : guest_(std::move(guest)) {}

  guest::FileAttributes Stat(const std::string& path, const support::Context& context) override;
  guest::FileAttributes LStat(const std::string& path, const support::Context& context) override;
  std::string ReadLink(const std::string& path, const support::Context& context) override;
  std::string RealPath(const std::string& path, const support::Context& context) override;
  guest::RealFile FindRealFile(const std::string& path, const support::Context& context) override;
  guest::FoundDirectory FindAndList(const std::string& path,
                                    const support::Context& context) override;
  guest::FoundFile FindAndRead(const std::string& path, std::uint64_t most_bytes,
                               const support::Context& context) override;

  std::unique_ptr<guest::OpenFile> Open(const std::string& path, guest::OpenMode mode,
                                        std::uint32_t permissions,
                                        const support::Context& context) override;
  std::vector<guest::DirectoryEntry> List(const std::string& path,
                                          const support::Context& context) override;
  std::optional<std::vector<guest::DirectoryEntry>> ListSmall(
      const std::string& path, std::uint64_t directory_bytes,
      const support::Context& context) override;
  void MakeDirectory(const std::string& path, std::uint32_t permissions,
                     const support::Context& context) override;
  void Rename(const std::string& from, const std::string& to,
              const support::Context& context) override;
  void Unlink(const std::string& path, const support::Context& context) override;
  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context& context) override;
  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override;
  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command command, std::shared_ptr<guest::OutputSink> sink) override;

 private:
  /// What `ask` returns, or, where the guest has no SFTP server, what `otherwise` does.
  template <typename Ask, typename Otherwise>
  auto AskEither(Ask ask, Otherwise otherwise);
  guest::FileAttributes StatByShell(const std::string& path, const std::string& options,
                                    const support::Context& context);
  /// The output of a script without the line end at its end. Throws guest::FileError (kNotFound)
  /// where it fails.
  std::string AskShell(const std::string& script, const std::string& path,
                       const support::Context& context);

  std::shared_ptr<guest::Guest> guest_;
  std::atomic<bool> by_shell_ = false;  ///< there was no SFTP server; the next session may have one
};

}  // namespace connection
