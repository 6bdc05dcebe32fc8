#include "ssh/connection.h"

#include <system_error>
#include <utility>

#include "ssh/session_loop.h"
#include "ssh/sftp/burst.h"
#include "support/log.h"

namespace ssh {
namespace {

/// The handle to a process that runs on the session's thread. Keeps the session.
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
  } catch (const std::system_error& error) {
    throw support::CallError(
        "no connection to the guest can be made: this host gives no further thread or file "
        "descriptor (" +
        error.code().message() + "); call again in a while");
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
  try {
    loop_->CloseHandle(handle);
  } catch (const std::exception& error) {
    support::LogWarning(std::string("a file stays open in the guest: ") + error.what());
  }
}

std::unique_ptr<shell::Process> Connection::Start(std::string command_line, shell::Turn turn,
                                                  std::shared_ptr<shell::ProcessEvents> events) {
  const auto run = std::make_shared<ProcessRun>(std::move(command_line), turn, std::move(events),
                                                loop_->request_timeout());
  auto process = std::make_unique<RemoteProcess>(loop_, run);
  loop_->Start(run);
  return process;
}

}  // namespace ssh
