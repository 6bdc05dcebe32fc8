#include "ssh/connection.h"

#include <libssh/libssh.h>

#include <system_error>
#include <utility>

#include "ssh/session_loop.h"
#include "ssh/sftp/burst.h"

namespace ssh {
namespace {

/// A process that runs on the session's thread. Keeps the session.
class RemoteProcess final : public shell::Process {
 public:
  RemoteProcess(std::shared_ptr<SessionLoop> loop, std::shared_ptr<ProcessRun> run)
      : loop_(std::move(loop)), run_(std::move(run)) {}
  ~RemoteProcess() override {
    loop_->Do([run = run_] { run->Leave(); });
  }
  RemoteProcess(const RemoteProcess&) = delete;
  RemoteProcess& operator=(const RemoteProcess&) = delete;

  void Send(std::string bytes) override {
    loop_->Do([run = run_, bytes = std::move(bytes)] { run->Send(bytes); });
  }
  void EndInput() override {
    loop_->Do([run = run_] { run->EndInput(); });
  }

 private:
  std::shared_ptr<SessionLoop> loop_;
  std::shared_ptr<ProcessRun> run_;
};

}  // namespace

std::string LibraryVersion() {
  const std::string text = ssh_version(0);  // "0.10.6/openssl/zlib"
  return text.substr(0, text.find('/'));
}

Connection::Connection(std::shared_ptr<SessionLoop> loop) : loop_(std::move(loop)) {
  loop_->SetRoomMaker([this] { return MakeRoom(); });
}

Connection::~Connection() {
  loop_->SetRoomMaker([] { return false; });
}

std::shared_ptr<Connection> Connection::Open(const Endpoint& endpoint,
                                             const ConnectionOptions& options,
                                             const support::Context& context) {
  context.ThrowIfStopped();
  try {
    auto loop = std::make_shared<SessionLoop>(endpoint, options);
    loop->Connect(context);
    return std::shared_ptr<Connection>(new Connection(std::move(loop)));  // private constructor
  } catch (const std::system_error& error) {                              // no thread or descriptor
    throw support::CallError(std::string("cannot connect to the guest: ") + error.what());
  }
}

bool Connection::alive() const {
  return loop_->alive();
}

std::vector<guest::Reply> Connection::Answer(std::vector<guest::Request> requests,
                                             const support::Context& context) {
  const auto burst = std::make_shared<Burst>(std::move(requests));
  loop_->Run(burst, context);
  return burst->TakeReplies();
}

void Connection::CloseLater(const guest::Handle& handle) noexcept {
  loop_->CloseHandle(handle);
}

std::unique_ptr<shell::Process> Connection::Start(std::string command_line,
                                                  std::shared_ptr<shell::ProcessEvents> events) {
  const auto run = std::make_shared<ProcessRun>(std::move(command_line), std::move(events));
  auto process = std::make_unique<RemoteProcess>(loop_, run);
  loop_->Start(run);
  return process;
}

}  // namespace ssh
