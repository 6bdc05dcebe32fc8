#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/local_launcher.h"
#include "testing/stepped_guest.h"

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

/// A guest with this machine's files. Answers like OpenSSH's sftp-server (sftp-server.c,
/// sftp-realpath.c): link loops and ENOTDIR are kNotFound, a full disk is kFailure, RealPath allows
/// a missing last component. Thread-safe; the hook runs without a lock.
class LocalGuest : public SteppedGuest {
 public:
  /// Called before each operation with its path (for kRun: the command). It may throw in place of
  /// the operation, or change files.
  using Hook = std::function<void(Operation operation, const std::string& path)>;

  LocalGuest();
  ~LocalGuest() override;
  LocalGuest(const LocalGuest&) = delete;
  LocalGuest& operator=(const LocalGuest&) = delete;

  /// Set it before other threads use the guest. An empty function removes it.
  void set_hook(Hook hook) { hook_ = std::move(hook); }

  /// Whether OpenFile::Sync is offered; true by default.
  void set_offers_sync(bool offers_sync) { offers_sync_ = offers_sync; }

  /// How often an operation was requested, failures included. List means opening a directory.
  [[nodiscard]] int count(Operation operation) const;
  [[nodiscard]] int total() const;

  /// "RealPath 1, Stat 1", in the order of Operation: for comparing and for messages.
  [[nodiscard]] std::string counts() const;
  /// Bursts and commands.
  [[nodiscard]] int round_trips() const;
  /// READ requests as OpenSSH's server counts them: 261,120 bytes in one (limits@openssh.com).
  [[nodiscard]] std::size_t server_reads() const;
  void ResetCounts();

  guest::FileAttributes Stat(const std::string& path, const support::Context& context) override;
  guest::FileAttributes LStat(const std::string& path, const support::Context& context) override;
  std::string ReadLink(const std::string& path, const support::Context& context) override;
  std::string RealPath(const std::string& path, const support::Context& context) override;

  /// Opening a FIFO would block: throws as if the deadline had passed.
  std::unique_ptr<SteppedFile> Open(const std::string& path, guest::OpenMode mode,
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

  /// In a new shell for each call. Counted as Operation::kRun.
  shell::RunEnd RunScript(const std::string& script, shell::OutputSink& sink,
                          const support::Context& context) override;
  shell::RunEnd RunCommand(const shell::LoginCommand& command, shell::OutputSink& sink,
                           const support::Context& context) override;
  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override;

  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override;

 private:
  class File;
  void Begin(Operation operation, const std::string& path, const support::Context& context);
  void BeginRun(const std::string& text, const support::Context& context);

  mutable std::mutex mutex_;
  std::map<Operation, int> counts_;
  int round_trips_ = 0;
  std::size_t server_reads_ = 0;
  Hook hook_;
  std::vector<std::unique_ptr<LocalLauncher>>
      launchers_;  ///< each with the environment of its time
  bool offers_sync_ = true;
};

}  // namespace testing_support
