#pragma once

#include <memory>
#include <vector>

#include "guest/guest.h"
#include "ssh/endpoint.h"

namespace ssh {

class SessionLoop;

/// A guest over one SSH session: commands on channels of their own, files over SFTP version 3.
/// Thread-safe: any number of threads may call at once, and none of them delays another's call.
///
/// One thread owns the session; every call posts its work there and waits, no longer than its
/// context allows. When the session dies, every call under way throws support::ConnectionLost
/// (may_have_run() says whether the guest may have done the work), and all later ones too: open a
/// new connection then.
///
/// The guest's sshd allows only so many channels at once (MaxSessions, 10 by default): one serves
/// SFTP from the first request for a file on, each process has another. Who finds none waits until
/// one is closed; idle shells give way. Where sshd allows a single channel, whoever comes second is
/// told so.
class Connection final : public guest::Guest {
 public:
  /// Connects and authenticates in the calling thread's time. Throws support::ConnectionLost when
  /// the guest cannot be reached, support::CallError when it lets none of the keys in, the endpoint
  /// is incomplete or this host has no thread or file descriptor left, support::Stopped. The texts
  /// say what to do.
  static std::shared_ptr<Connection> Open(const Endpoint& endpoint,
                                          const ConnectionOptions& options,
                                          const support::Context& context);

  using guest::Guest::Open;  // a file

  /// Ends the session, within a second even where the guest is frozen, unless a process that
  /// somebody still has keeps it.
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False once the session has ended: every further call fails.
  [[nodiscard]] bool alive() const;

  void CloseLater(const guest::Handle& handle) noexcept override;

  /// See ProcessRun for when a process counts as ended.
  std::unique_ptr<shell::Process> Start(std::string command_line, shell::Turn turn,
                                        std::shared_ptr<shell::ProcessEvents> events) override;

 private:
  explicit Connection(std::shared_ptr<SessionLoop> loop);
  std::vector<guest::Reply> Answer(std::vector<guest::Request> requests,
                                   const support::Context& context) override;

  std::shared_ptr<SessionLoop> loop_;
};

}  // namespace ssh
