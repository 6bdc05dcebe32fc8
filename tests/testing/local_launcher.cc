#include "testing/local_launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/file_descriptor.h"
#include "support/wake_pipe.h"

namespace testing_support {
namespace {

using support::FileDescriptor;
using Clock = std::chrono::steady_clock;

constexpr int kReapInterval = 2;  // milliseconds
constexpr std::chrono::seconds kEndPatience{10};

void Check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

std::array<FileDescriptor, 2> MakePipe() {
  std::array<int, 2> ends{};
  Check(pipe(ends.data()) == 0 ? 0 : errno, "pipe");
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string SignalName(int number) {
  if (number == SIGKILL) return "KILL";
  return number == SIGTERM ? "TERM" : std::to_string(number);
}

struct Child {
  pid_t id = 0;
  FileDescriptor input;
  std::array<FileDescriptor, 2> output;
};

Child Spawn(const std::string& command_line, std::vector<std::string> environment) {
  static std::mutex spawning;  // or another child would inherit a pipe before it is marked
  const std::scoped_lock lock(spawning);
  for (int fd = STDERR_FILENO + 1; fd < 256; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  auto input = MakePipe();
  auto output = MakePipe();
  auto error = MakePipe();
  posix_spawn_file_actions_t actions{};
  Check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  posix_spawn_file_actions_adddup2(&actions, input[0].get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1].get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error[1].get(), STDERR_FILENO);
  posix_spawnattr_t attributes{};
  Check(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
  sigset_t signals{};
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> words{"bash", "-c", command_line};
  Child child;
  const int failed = posix_spawn(&child.id, "/bin/bash", &actions, &attributes,
                                 Pointers(words).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  Check(failed, "posix_spawn");
  child.input = std::move(input[1]);
  fcntl(child.input.get(), F_SETFL, O_NONBLOCK);
  child.output = {std::move(output[0]), std::move(error[0])};
  return child;
}

}  // namespace

class LocalLauncher::Channel {
 public:
  explicit Channel(std::shared_ptr<shell::ProcessEvents> events) : events_(std::move(events)) {}

  void Send(std::string_view bytes) {
    {
      const std::scoped_lock lock(mutex_);
      waiting_ += bytes;
    }
    wake_.Wake();
  }
  void Request(std::atomic<bool>& what) {
    what = true;
    wake_.Wake();
  }

  /// From the start to the end, on a thread of its own.
  void Run(const std::string& command_line, const Options& options);

  shell::ProcessEvents& events() { return *events_; }

  std::atomic<bool> input_ended = false;
  std::atomic<bool> closed = false;
  std::atomic<bool> broken = false;
  std::atomic<pid_t> process = 0;

 private:
  void Feed(FileDescriptor& input);

  std::shared_ptr<shell::ProcessEvents> events_;
  support::WakePipe wake_;
  std::mutex mutex_;
  std::string waiting_;  // guarded by it
};

void LocalLauncher::Channel::Feed(FileDescriptor& input) {
  const std::scoped_lock lock(mutex_);
  const ssize_t put = write(input.get(), waiting_.data(), waiting_.size());
  if (put > 0) waiting_.erase(0, static_cast<std::size_t>(put));
  if (put < 0 && errno != EAGAIN && errno != EINTR) waiting_.clear();
  if (waiting_.empty() && input_ended) input.Close();
}

void LocalLauncher::Channel::Run(const std::string& command_line, const Options& options) {
  sigset_t sigpipe{};
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, nullptr);
  Child child = Spawn(command_line, options.environment);
  process = child.id;
  shell::ProcessEnd end;
  end.was_started = true;
  bool reaped = false;
  std::optional<Clock::time_point> kill_at;
  std::vector<char> bytes(options.piece_size);
  while (!reaped || child.output[0].valid() || child.output[1].valid()) {
    if (closed || broken) {
      child.input.Close();
      for (FileDescriptor& output : child.output) output.Close();
      if (reaped) break;
      if (!kill_at) kill_at = Clock::now() + kEndPatience;
    }
    if (kill_at && Clock::now() > *kill_at) kill(-child.id, SIGKILL);
    int status = 0;
    if (!reaped && waitpid(child.id, &status, WNOHANG) == child.id) {
      reaped = true;
      if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end.exit_signal = SignalName(WTERMSIG(status));
      child.input.Close();
      continue;
    }
    bool has_input = false;
    {
      const std::scoped_lock lock(mutex_);
      has_input = !waiting_.empty() || input_ended;
    }
    std::array<pollfd, 4> polled{
        {{.fd = wake_.fd(), .events = POLLIN, .revents = 0},
         {.fd = child.output[0].get(), .events = POLLIN, .revents = 0},
         {.fd = child.output[1].get(), .events = POLLIN, .revents = 0},
         {.fd = has_input ? child.input.get() : -1, .events = POLLOUT, .revents = 0}}};
    poll(polled.data(), polled.size(), reaped ? -1 : kReapInterval);
    if (polled[0].revents != 0) wake_.Drain();
    if (polled[3].revents != 0) Feed(child.input);
    for (const std::size_t i : {0U, 1U}) {
      if (polled[i + 1].revents == 0 || closed) continue;
      const ssize_t got = read(child.output[i].get(), bytes.data(), bytes.size());
      if (got > 0) {
        events_->OnOutput(i == 0 ? shell::Stream::kOutput : shell::Stream::kError,
                          {bytes.data(), static_cast<std::size_t>(got)});
      } else if (got == 0) {
        child.output[i].Close();
      }
    }
  }
  if (broken) end = {"the connection is lost", true, true, {}, {}};
  events_->OnEnd(end);
}

LocalLauncher::~LocalLauncher() {
  std::vector<std::thread> threads;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& channel : channels_) channel->Request(channel->closed);
    threads.swap(threads_);
  }
  channel_closed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void LocalLauncher::BreakConnection() {
  const std::scoped_lock lock(mutex_);
  for (const auto& channel : channels_) channel->Request(channel->broken);
}

std::size_t LocalLauncher::started() const {
  const std::scoped_lock lock(mutex_);
  return channels_.size();
}

std::vector<pid_t> LocalLauncher::sessions() const {
  const std::scoped_lock lock(mutex_);
  std::vector<pid_t> sessions;
  for (const auto& channel : channels_) sessions.push_back(channel->process);
  return sessions;
}

void LocalLauncher::Attend(Channel& channel, const std::string& command_line) {
  {
    std::unique_lock lock(mutex_);
    if (open_ >= options_.channels) {
      lock.unlock();
      channel.events().OnQueued();
      lock.lock();
    }
    channel_closed_.wait(lock, [&] { return open_ < options_.channels || channel.closed; });
    ++open_;
  }
  if (channel.closed) {
    channel.events().OnEnd({});
  } else {
    channel.Run(command_line, options_);
  }
  {
    const std::scoped_lock lock(mutex_);
    --open_;
  }
  channel_closed_.notify_all();
}

std::unique_ptr<shell::Process> LocalLauncher::Start(std::string command_line, shell::Turn /*turn*/,
                                                     std::shared_ptr<shell::ProcessEvents> events) {
  class LocalProcess final : public shell::Process {
   public:
    LocalProcess(std::shared_ptr<Channel> channel, std::condition_variable& changed)
        : channel_(std::move(channel)), changed_(changed) {}
    ~LocalProcess() override {
      channel_->Request(channel_->closed);
      changed_.notify_all();
    }
    void Send(std::string bytes) override { channel_->Send(bytes); }
    void EndInput() override { channel_->Request(channel_->input_ended); }

   private:
    std::shared_ptr<Channel> channel_;
    std::condition_variable& changed_;
  };
  constexpr std::string_view kShell = "/bin/sh";
  if (const std::size_t at = command_line.find(kShell); at != std::string::npos) {
    command_line.replace(at, kShell.size(), options_.posix_shell);
  }
  auto channel = std::make_shared<Channel>(std::move(events));
  const std::scoped_lock lock(mutex_);
  channels_.push_back(channel);
  threads_.emplace_back([this, channel, command_line] { Attend(*channel, command_line); });
  return std::make_unique<LocalProcess>(std::move(channel), channel_closed_);
}

}  // namespace testing_support
