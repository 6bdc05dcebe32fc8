#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "guest/guest.h"

namespace testing_support {

/// The operations of guest::Guest and guest::OpenFile, for counting and for hooks.
enum class Operation {
  kStat,
  kLStat,
  kReadLink,
  kRealPath,
  kOpen,
  kList,
  kMakeDirectory,
  kRename,
  kUnlink,
  kStatFileSystem,
  kRun,
  kFileStat,
  kFileRead,
  kFileWrite,
  kFileSetAttributes,
  kFileSync,
  kFileClose,
};

/// "Stat", "FileRead", … for messages of tests.
std::string Name(Operation operation);

/// A guest over this machine's own files, with the real kernel behind it: links, permissions and
/// errors are what they are. It speaks as OpenSSH's sftp-server (sftp-server.c, sftp-realpath.c)
/// does: link loops and ENOTDIR are kNotFound, a full disk is kFailure, a missing last component is
/// no error for RealPath. Commands run under `/bin/sh -c` in a process group of their own.
/// Thread-safe, as guest::Guest asks; the hook runs without a lock held.
class LocalGuest : public guest::Guest {
 public:
  /// Called before each operation with the path that the operation names (the command line for
  /// kRun). It may throw what the operation shall throw, or change the files behind the caller's
  /// back.
  using Hook = std::function<void(Operation operation, const std::string& path)>;

  LocalGuest();

  /// Kills the commands that nobody waited for (their sink had enough, or they were stopped).
  ~LocalGuest() override;

  LocalGuest(const LocalGuest&) = delete;
  LocalGuest& operator=(const LocalGuest&) = delete;

  /// Set it before other threads use the guest. An empty function removes it.
  void set_hook(Hook hook);

  /// Whether OpenFile::Sync is offered; it is unless told otherwise.
  void set_offers_sync(bool offers_sync);

  /// What StatFileSystem tells; the truth unless told otherwise.
  void set_free_bytes(std::uint64_t free_bytes);

  /// How often an operation was asked for, failures included. Each is one round trip, but List
  /// (open, a read for each packet of names, close).
  [[nodiscard]] int count(Operation operation) const;
  [[nodiscard]] int total() const;

  /// "RealPath 1, Stat 1", in the order of Operation: for comparing and for messages.
  [[nodiscard]] std::string counts() const;
  /// What these cost over SFTP, one after the other: operations that a real guest asks at once
  /// (guest.h) count as one, List as two (open; names and end).
  [[nodiscard]] int round_trips() const;
  void ResetCounts();

  guest::RealFile FindRealFile(const std::string& path, const support::Context& context) override;
  guest::FoundDirectory FindAndList(const std::string& path,
                                    const support::Context& context) override;
  std::optional<std::vector<guest::DirectoryEntry>> ListSmall(
      const std::string& path, std::uint64_t directory_bytes,
      const support::Context& context) override;

  guest::FileAttributes Stat(const std::string& path, const support::Context& context) override;
  guest::FileAttributes LStat(const std::string& path, const support::Context& context) override;
  std::string ReadLink(const std::string& path, const support::Context& context) override;
  std::string RealPath(const std::string& path, const support::Context& context) override;

  /// Opening a FIFO would wait for ever: acts as if the deadline had passed at once.
  std::unique_ptr<guest::OpenFile> Open(const std::string& path, guest::OpenMode mode,
                                        std::uint32_t permissions,
                                        const support::Context& context) override;
  std::vector<guest::DirectoryEntry> List(const std::string& path,
                                          const support::Context& context) override;
  void MakeDirectory(const std::string& path, std::uint32_t permissions,
                     const support::Context& context) override;
  void Rename(const std::string& from, const std::string& to,
              const support::Context& context) override;
  void Unlink(const std::string& path, const support::Context& context) override;
  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context& context) override;

  /// Returns when the command has ended and its output is closed, as sshd closes a channel: a
  /// background child that keeps the output open is waited for.
  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override;

  /// Null: there is nothing to be gained by waiting here.
  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command /*command*/, std::shared_ptr<guest::OutputSink> /*sink*/) override {
    return nullptr;
  }

 private:
  class File;
  void AskAlong(int operations);
  void Begin(Operation operation, const std::string& path, const support::Context& context);

  mutable std::mutex mutex_;
  std::map<Operation, int> counts_;
  int asked_along_ = 0;  ///< operations that cost no round trip of their own
  std::vector<int> abandoned_processes_;
  Hook hook_;
  bool offers_sync_ = true;
  std::optional<std::uint64_t> free_bytes_;
};

}  // namespace testing_support
