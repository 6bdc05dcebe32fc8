// SPDX-License-Identifier: Apache-2.0
#include "ssh/session_guest.h"

#include <libssh/server.h>  // ssh_send_keepalive and messages, which are the client's too
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/printable.h"

namespace ssh {
namespace {

constexpr const char* kConnectionGone = "the connection to the guest was lost; nothing was done";

/// A process that runs on the session's thread.
class RemoteProcess final : public shell::Process {
 public:
  RemoteProcess(SessionGuest& guest, std::shared_ptr<ProcessRun> run)
      : guest_(guest), run_(std::move(run)) {}
  ~RemoteProcess() override {
    guest_.Post([run = run_] { run->Close(); });
  }
  RemoteProcess(const RemoteProcess&) = delete;
  RemoteProcess& operator=(const RemoteProcess&) = delete;

  void Send(std::string bytes) override {
    guest_.Post([run = run_, bytes = std::move(bytes)] { run->Send(bytes); });
  }
  void EndInput() override {
    guest_.Post([run = run_] { run->EndInput(); });
  }

 private:
  SessionGuest& guest_;
  std::shared_ptr<ProcessRun> run_;
};

}  // namespace

SessionGuest::SessionGuest(Endpoint endpoint, const ConnectionOptions& options)
    : endpoint_(std::move(endpoint)),
      options_(options),
      session_(ssh_new()),
      event_(ssh_event_new()),
      broker_(
          session_.get(), [this] { return shells_.MakeRoom(); },
          [this] { return shells_.Running(); }),
      sftp_(broker_),
      forwarding_(session_.get(), event_.get(), options_.accept) {
  if (!session_ || !event_) throw std::runtime_error("libssh cannot create a session");
  ssh_set_counters(session_.get(), &socket_bytes_, &received_);
  if (ssh_event_add_fd(event_.get(), wake_.fd(), POLLIN, &SessionGuest::OnWake, this) != SSH_OK) {
    throw std::runtime_error("libssh cannot poll the wake pipe");
  }
}

SessionGuest::~SessionGuest() {
  shells_.Close();  // while their events are still delivered
  stopping_ = true;
  wake_.Wake();
  if (thread_.joinable()) {
    ended_.get_future().wait_for(kEndTimeout);
    ShutDownSocket();
    thread_.join();
  }
  // ssh_event_free does not free it.
  ssh_event_remove_fd(event_.get(), wake_.fd());
}

void SessionGuest::Open(const support::Context& context) {
  thread_ = std::thread([this] { ThreadMain(); });
  try {
    connected_.Wait(context, [&](support::StopReason) {
      stopping_ = true;
      wake_.Wake();
      ShutDownSocket();
    });
  } catch (const support::ConnectionLost&) {
    context.ThrowIfStopped();
    throw;
  }
  context.ThrowIfStopped();
}

bool SessionGuest::Post(std::function<void()> task) {
  const std::scoped_lock lock(mutex_);
  if (!accepting_) return false;
  tasks_.push_back(std::move(task));
  wake_.Wake();
  return true;
}

std::vector<guest::Reply> SessionGuest::RoundTrip(const std::vector<guest::Request>& requests,
                                                  const support::Context& context) {
  if (context.stop_reason() != support::StopReason::kNone) {
    for (const guest::Request& request : requests) {
      if (request.operation == guest::Operation::kClose) CloseLater(request.handle);
    }
    context.ThrowIfStopped();
  }
  const auto burst = std::make_shared<Burst>(requests);
  if (!Post([this, burst] { sftp_.Submit(burst); })) {
    throw support::ConnectionLost(kConnectionGone, false);
  }
  burst->completion().Wait(context, [&](support::StopReason reason) {
    Post([this, burst, reason] { sftp_.Cancel(*burst, reason); });
  });
  return burst->TakeReplies();
}

void SessionGuest::CloseLater(const guest::Handle& handle) noexcept {
  Post([this, handle] { sftp_.CloseHandle(handle); });
}

void SessionGuest::Forward(support::FileDescriptor socket, int port,
                           std::function<void(guest::ForwardEnd)> on_end) {
  // A task can be copied.
  const auto shared = std::make_shared<support::FileDescriptor>(std::move(socket));
  const bool posted =
      Post([this, shared, port, on_end] { forwarding_.Connect(std::move(*shared), port, on_end); });
  if (!posted) on_end(guest::ForwardEnd::kLost);
}

std::unique_ptr<shell::Process> SessionGuest::Start(std::string command_line,
                                                    std::shared_ptr<shell::ProcessEvents> events) {
  const auto run = std::make_shared<ProcessRun>(std::move(command_line), std::move(events));
  auto process = std::make_unique<RemoteProcess>(*this, run);
  const bool posted = Post([this, run] {
    processes_.push_back(run);
    run->Begin(broker_);
  });
  if (!posted) run->OnSessionLost(kConnectionGone);
  return process;
}

void SessionGuest::ThreadMain() {
  std::string text = "the connection to the guest was closed";
  std::exception_ptr failure;
  try {
    OpenSession();
    alive_ = true;
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    End(text);
    connected_.Finish(std::move(failure));
    return;
  }
  connected_.Finish();
  try {
    Serve();
    if (!stopping_) text = support::Format("the connection to the guest was lost: {}", ErrorText());
  } catch (const std::exception& error) {
    text = support::Format("the connection to the guest was closed: {}", error.what());
  }
  End(text);
}

int SessionGuest::OnWake(socket_t, int, void* self) {
  auto* const guest = static_cast<SessionGuest*>(self);
  guest->wake_.Drain();
  guest->woken_ = true;
  return 0;
}

void SessionGuest::Poll(TimePoint until) {
  using std::chrono::milliseconds;
  constexpr milliseconds kMaxWait = std::chrono::hours(1);
  const auto now = support::Clock::now();
  // After a wake-up that libssh consumed in a poll of its own, the posted work is still waiting.
  const bool is_due = woken_ || until <= now;
  const auto wait =
      is_due ? milliseconds(0) : std::min(kMaxWait, std::chrono::ceil<milliseconds>(until - now));
  const int result = ssh_event_dopoll(event_.get(), static_cast<int>(wait.count()));
  if (result == SSH_ERROR) poll_failed_ = true;
  woken_ = false;
}

bool SessionGuest::session_alive() const {
  return !poll_failed_ && ssh_is_connected(session_.get()) != 0 &&
         (ssh_get_status(session_.get()) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

std::string SessionGuest::ErrorText() const {
  const std::string text = support::Printable(ssh_get_error(session_.get()));
  return text.empty() ? "the connection was closed" : text;
}

void SessionGuest::ShutDownSocket() {
  const std::scoped_lock lock(socket_mutex_);
  if (socket_copy_.valid()) ::shutdown(socket_copy_.get(), SHUT_RDWR);
}

void SessionGuest::Serve() {
  keepalive_at_ = support::Clock::now() + options_.keepalive_interval;
  while (!stopping_ && session_alive()) {
    // Most calls of libssh poll too. If one receives data after the receiver's step, another turn
    // is needed; if it finds the connection lost, the poll below does not wake.
    const std::uint64_t packets = received_.in_packets;
    RunTasks();
    const TimePoint now = support::Clock::now();
    KeepAlive(now);
    const TimePoint next = std::min(keepalive_at_, StepAll(now));
    if (!session_alive()) break;
    Poll(received_.in_packets == packets ? next : TimePoint::min());
  }
}

void SessionGuest::RunTasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::scoped_lock lock(mutex_);
    tasks.swap(tasks_);
  }
  // Each task runs, whatever the others do: a caller may wait for it.
  std::exception_ptr failure;
  for (const auto& task : tasks) {
    try {
      task();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

TimePoint SessionGuest::StepAll(TimePoint now) {
  ShareChannels();
  // The broker is first, because it grants the channels. If another frees a slot or requests a
  // channel, its step is the next one.
  TimePoint next = broker_.Step(now);
  for (const auto& process : processes_) next = std::min(next, process->Step(now));
  next = std::min(next, sftp_.Step(now));
  if (forwarding_.Step()) next = now;
  std::erase_if(processes_, [](const auto& process) { return process->done(); });
  ShareChannels();
  return next;
}

void SessionGuest::ShareChannels() {
  std::size_t channels = shell::kMaxChannels - 1;  // SFTP has one
  std::size_t running = 0;
  for (const auto& process : processes_) {
    if (process->is_long_running()) --channels;
    if (process->is_long_running() && process->has_channel()) ++running;
  }
  broker_.AllowProcesses(shells_.SetChannels(channels, running));
}

void SessionGuest::KeepAlive(TimePoint now) {
  if (received_.in_packets != packets_seen_) {
    packets_seen_ = received_.in_packets;
    keepalives_unanswered_ = 0;
  } else if (now < keepalive_at_) {
    return;
  } else if (++keepalives_unanswered_ > options_.keepalive_limit) {
    throw support::ConnectionLost("the guest does not answer keep-alives", true);
  } else {
    // libssh sends a packet only on every second call.
    for (int i = 0; i < 2; ++i) {
      if (ssh_send_keepalive(session_.get()) == SSH_ERROR) poll_failed_ = true;
    }
  }
  keepalive_at_ = now + options_.keepalive_interval;
}

void SessionGuest::End(const std::string& text) {
  alive_ = false;
  {
    const std::scoped_lock lock(mutex_);
    accepting_ = false;
  }
  try {
    RunTasks();
  } catch (const std::exception& error) {
    support::LogError(support::Format("at the end of the connection: {}", error.what()));
  }
  // A frozen guest must see the connection closed when it wakes, so that its watchers stop the
  // remaining processes.
  ShutDownSocket();
  for (const auto& process : processes_) process->OnSessionLost(text);
  processes_.clear();
  sftp_.OnSessionLost(text);
  forwarding_.Clear();
  ended_.set_value();
}

std::string LibraryVersion() {
  const std::string text = ssh_version(0);  // "0.10.6/openssl/zlib"
  return text.substr(0, text.find('/'));
}

std::shared_ptr<guest::Guest> Connect(const Endpoint& endpoint, const ConnectionOptions& options,
                                      const support::Context& context) {
  context.ThrowIfStopped();
  try {
    auto guest = std::make_shared<SessionGuest>(endpoint, options);
    guest->Open(context);
    return guest;
  } catch (const std::system_error& error) {  // no thread or descriptor
    throw support::Error("cannot connect to the guest: {}", error.what());
  }
}

}  // namespace ssh
