#pragma once

#include <memory>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "ssh/endpoint.h"

namespace ssh {

class SessionLoop;
class SpareCommand;

/// A guest over one SSH session: commands on channels of their own, files over SFTP version 3.
/// Thread-safe: any number of threads may call at once, and none of them delays another's call.
///
/// One thread owns the session; every call posts its work there and waits, no longer than its
/// context allows. When the session dies, every call under way throws support::ConnectionLost
/// (may_have_run() says whether the guest may have done the work), and all later ones too: open a
/// new connection then.
///
/// The guest's sshd allows only so many channels at once (MaxSessions, 10 by default): one serves
/// SFTP, a command that finds none waits its turn (Command::on_queued). Where sshd allows a single
/// channel, files and commands take turns; a command then waits while a file is open.
///
/// Round trips are those of guest.h, with List at two and more. Open and MakeDirectory that fail
/// for no reason given ask once more (LSTAT), and the first operation opens the SFTP channel.
class Connection final : public guest::Guest {
 public:
  /// Connects and authenticates in the calling thread's time. Throws support::ConnectionLost when
  /// the guest cannot be reached, support::CallError when it lets none of the keys in, the endpoint
  /// is incomplete or this host has no thread or file descriptor left, support::Stopped. The texts
  /// say what to do.
  static std::shared_ptr<Connection> Open(const Endpoint& endpoint,
                                          const ConnectionOptions& options,
                                          const support::Context& context);

  /// Ends the session, within a second even where the guest is frozen. Files that are still open,
  /// and commands that wait (StartWaiting), keep it.
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False once the session has ended: every further call fails.
  [[nodiscard]] bool alive() const;

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

  /// See CommandRun for when a command counts as ended. Throws support::CallError for a command
  /// line that is too long or contains NUL, before anything is sent.
  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override;

  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command command, std::shared_ptr<guest::OutputSink> sink) override;

 private:
  explicit Connection(std::shared_ptr<SessionLoop> loop);
  bool Exists(const std::string& path, const support::Context& context);

  std::shared_ptr<SessionLoop> loop_;
  std::shared_ptr<SpareCommand> spare_command_;
};

}  // namespace ssh
