#pragma once

#include <memory>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "ssh/endpoint.h"

namespace ssh {

class SessionLoop;

/// The version of libssh at run time ("0.10.6"). Its releases carry security fixes.
std::string LibraryVersion();

/// A guest over one SSH session, which carries everything: each process has its own channel, and
/// files use SFTP version 3. Thread-safe; no call delays another thread's call.
///
/// One thread owns the session. Every call posts its work there and waits, within its context. When
/// the session is lost, every current and later call throws support::ConnectionLost; open a new
/// connection then.
///
/// shell/process.h says how the channels are shared. If none is free, idle shells are closed and
/// the request waits.
class Connection final : public guest::Guest {
 public:
  /// Connects and authenticates. Throws support::ConnectionLost if the guest cannot be reached,
  /// support::CallError if it rejects all keys or the endpoint is incomplete, support::Stopped.
  static std::shared_ptr<Connection> Open(const Endpoint& endpoint,
                                          const ConnectionOptions& options,
                                          const support::Context& context);

  using guest::Guest::Open;  // a file

  /// Closes the session, within a second even if the guest is frozen. All processes end as lost,
  /// and must be destroyed in ProcessEvents::OnEnd at the latest.
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] bool alive() const override;
  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override;
  void CloseLater(const guest::Handle& handle) noexcept override;

  /// See ProcessRun for when a process counts as exited.
  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override;
  [[nodiscard]] std::size_t channels_for_shells() const override;

 private:
  Connection(const Endpoint& endpoint, const ConnectionOptions& options);

  std::unique_ptr<SessionLoop> loop_;
};

}  // namespace ssh
