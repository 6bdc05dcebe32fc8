// SPDX-License-Identifier: Apache-2.0
#include "testing/local_launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include "support/child.h"
#include "support/file_descriptor.h"
#include "support/pipe.h"

namespace testing_support {
namespace {

using support::FileDescriptor;
using Clock = std::chrono::steady_clock;

constexpr int kReapInterval = 2;  // milliseconds
/// What a closed channel's process gets before it is killed.
constexpr std::chrono::seconds kEndTimeout{10};

std::string SignalName(int number) {
  if (number == SIGKILL) return "KILL";
  return number == SIGTERM ? "TERM" : std::to_string(number);
}

struct Child {
  pid_t id = 0;
  FileDescriptor input;
  std::array<FileDescriptor, 2> output;
};

Child Spawn(const std::string& command_line, const std::vector<std::string>& environment) {
  static std::mutex spawning;  // another child must not inherit a pipe before it is close-on-exec
  const std::scoped_lock lock(spawning);
  support::Pipe input;
  support::Pipe output;
  support::Pipe error;
  // Also the descriptors that the tests inherited.
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  std::vector<std::string> words{"env", "-i"};
  words.insert(words.end(), environment.begin(), environment.end());
  words.insert(words.end(), {"bash", "-c", command_line});
  Child child;
  child.id = support::Spawn(words, {.input = input.read_end.get(),
                                    .output = output.write_end.get(),
                                    .error = error.write_end.get(),
                                    .own_session = true});
  child.input = std::move(input.write_end);
  fcntl(child.input.get(), F_SETFL, O_NONBLOCK);
  child.output = {std::move(output.read_end), std::move(error.read_end)};
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

  std::atomic<bool> input_ended = false;
  std::atomic<bool> closed = false;
  std::atomic<bool> broken = false;
  std::atomic<pid_t> process = 0;

 private:
  [[nodiscard]] bool HasInput() {
    const std::scoped_lock lock(mutex_);
    return !waiting_.empty() || input_ended;
  }
  void Feed(FileDescriptor& input);
  /// Waits for something to do, and passes output on.
  void Move(Child& child, std::vector<char>& bytes, int timeout);

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

void LocalLauncher::Channel::Move(Child& child, std::vector<char>& bytes, int timeout) {
  const int input = HasInput() ? child.input.get() : -1;
  std::array<pollfd, 4> polled{{{wake_.fd(), POLLIN, 0},
                                {child.output[0].get(), POLLIN, 0},
                                {child.output[1].get(), POLLIN, 0},
                                {input, POLLOUT, 0}}};
  poll(polled.data(), polled.size(), timeout);
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
      if (!kill_at) kill_at = Clock::now() + kEndTimeout;
      if (Clock::now() > *kill_at) kill(-child.id, SIGKILL);
    }
    int status = 0;
    if (!reaped && waitpid(child.id, &status, WNOHANG) == child.id) {
      reaped = true;
      if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end.exit_signal = SignalName(WTERMSIG(status));
      child.input.Close();
      continue;
    }
    Move(child, bytes, reaped ? -1 : kReapInterval);
  }
  if (broken) end = {"the connection is lost", true, true, {}, {}};
  events_->OnEnd(end);
  events_->OnClosed();
}

LocalLauncher::~LocalLauncher() {
  for (const auto& channel : channels_) channel->Request(channel->closed);
  for (std::thread& thread : threads_) thread.join();
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

std::unique_ptr<shell::Process> LocalLauncher::Start(std::string command_line,
                                                     std::shared_ptr<shell::ProcessEvents> events) {
  class LocalProcess final : public shell::Process {
   public:
    explicit LocalProcess(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
    ~LocalProcess() override { channel_->Request(channel_->closed); }
    void Send(std::string bytes) override { channel_->Send(bytes); }
    void EndInput() override { channel_->Request(channel_->input_ended); }

   private:
    std::shared_ptr<Channel> channel_;
  };
  constexpr std::string_view kShell = "/bin/sh";
  if (const std::size_t at = command_line.find(kShell); at != std::string::npos) {
    command_line.replace(at, kShell.size(), options_.posix_shell);
  }
  auto channel = std::make_shared<Channel>(std::move(events));
  const std::scoped_lock lock(mutex_);
  channels_.push_back(channel);
  threads_.emplace_back([this, channel, command_line] { channel->Run(command_line, options_); });
  return std::make_unique<LocalProcess>(std::move(channel));
}

}  // namespace testing_support
