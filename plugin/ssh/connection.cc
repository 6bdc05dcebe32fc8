#include "ssh/connection.h"

#include <libssh/libssh.h>

#include <system_error>
#include <utility>

#include "ssh/session_loop.h"

namespace ssh {
namespace {

/// A process that runs on the session's thread.
class RemoteProcess final : public shell::Process {
 public:
  RemoteProcess(SessionLoop& loop, std::shared_ptr<ProcessRun> run)
      : loop_(loop), run_(std::move(run)) {}
  ~RemoteProcess() override {
    loop_.Post([run = run_] { run->Leave(); });
  }
  RemoteProcess(const RemoteProcess&) = delete;
  RemoteProcess& operator=(const RemoteProcess&) = delete;

  void Send(std::string bytes) override {
    loop_.Post([run = run_, bytes = std::move(bytes)] { run->Send(bytes); });
  }
  void EndInput() override {
    loop_.Post([run = run_] { run->EndInput(); });
  }

 private:
  SessionLoop& loop_;
  std::shared_ptr<ProcessRun> run_;
};

}  // namespace

std::string LibraryVersion() {
  const std::string text = ssh_version(0);  // "0.10.6/openssl/zlib"
  return text.substr(0, text.find('/'));
}

Connection::Connection(const Endpoint& endpoint, const ConnectionOptions& options)
    : loop_(std::make_unique<SessionLoop>(endpoint, options, [this] { return MakeRoom(); })) {}

Connection::~Connection() {
  CloseShells();
}

std::shared_ptr<Connection> Connection::Open(const Endpoint& endpoint,
                                             const ConnectionOptions& options,
                                             const support::Context& context) {
  context.ThrowIfStopped();
  try {
    std::shared_ptr<Connection> connection(new Connection(endpoint, options));
    connection->loop_->Connect(context);
    return connection;
  } catch (const std::system_error& error) {  // no thread or descriptor
    throw support::CallError(std::string("cannot connect to the guest: ") + error.what());
  }
}

bool Connection::alive() const {
  return loop_->alive();
}

std::vector<guest::Reply> Connection::RoundTrip(const std::vector<guest::Request>& requests,
                                                const support::Context& context) {
  if (context.stop_reason() != support::StopReason::kNone) {
    for (const guest::Request& request : requests) {
      const auto* close = std::get_if<guest::request::Close>(&request);
      if (close != nullptr) CloseLater(close->handle);
    }
    context.ThrowIfStopped();
  }
  SftpService& sftp = loop_->sftp();
  const auto burst = std::make_shared<Burst>(requests);
  if (!loop_->Post([&sftp, burst] { sftp.Submit(burst); })) {
    throw support::ConnectionLost(kConnectionGone, false);
  }
  burst->completion().Wait(context, [&](support::StopReason reason) {
    loop_->Post([&sftp, burst, reason] { sftp.Withdraw(*burst, reason); });
  });
  return burst->TakeReplies();
}

void Connection::CloseLater(const guest::Handle& handle) noexcept {
  loop_->Post([&sftp = loop_->sftp(), handle] { sftp.CloseHandle(handle); });
}

std::size_t Connection::channels_for_shells() const {
  return loop_->channels_for_shells();
}

std::unique_ptr<shell::Process> Connection::Start(std::string command_line,
                                                  std::shared_ptr<shell::ProcessEvents> events) {
  const auto run = std::make_shared<ProcessRun>(std::move(command_line), std::move(events));
  auto process = std::make_unique<RemoteProcess>(*loop_, run);
  loop_->Start(run);
  return process;
}

}  // namespace ssh
