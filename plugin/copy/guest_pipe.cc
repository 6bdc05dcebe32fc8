#include "copy/guest_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "copy/git.h"
#include "shell/resident_script.h"
#include "support/printable.h"
#include "support/units.h"

namespace copy {
namespace {

using support::CallError;
using support::Clock;

/// Bytes of input that may wait for the guest.
constexpr std::size_t kMaxUnsent = std::size_t{512} << 10;

/// Bytes of reports and messages.
constexpr std::uint64_t kMaxReports = std::uint64_t{4} << 20;
constexpr std::size_t kMaxLine = 16384;

constexpr std::chrono::milliseconds kInterval{200};

bool WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

/// What the session's thread, the pump and the caller share.
class GuestPipe::Channel final : public shell::ProcessEvents {
 public:
  explicit Channel(support::FileDescriptor end) : end_(std::move(end)) {}

  const std::string marker = shell::MakeEndMarker();

  [[nodiscard]] int descriptor() const { return end_.get(); }

  void OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kError) return Keep(bytes);
    {
      const std::scoped_lock lock(mutex_);
      received_ += bytes.size();
      CheckSize();
    }
    WriteAll(end_.get(), bytes);  // waits for the reader; fails once it is closed
    const std::scoped_lock lock(mutex_);
    touched_ = Clock::now();
  }

  void OnInputSent(std::size_t bytes) override {
    const std::scoped_lock lock(mutex_);
    unsent_ -= std::min(unsent_, bytes);
    sent_ += bytes;
    touched_ = Clock::now();
    changed_.notify_all();
  }

  void OnEnd(const shell::ProcessEnd& end) override {
    const std::scoped_lock lock(mutex_);
    if (!end.problem.empty()) message_ += end.problem + '\n';
    Close();
  }

  /// Nothing passes any more; what has been written to the host's end can still be read.
  void Stop() {
    const std::scoped_lock lock(mutex_);
    Close();
  }

  /// `before`: bytes of reports.
  void BeginPack(const std::string& what, std::uint64_t before, std::uint64_t max_bytes) {
    const std::scoped_lock lock(mutex_);
    pack_ = what;
    max_bytes_ = before + max_bytes;
    too_large_ = "More than " + support::FormatByteCount(max_bytes) + " (--max-size).";
    touched_ = began_ = Clock::now();
    CheckSize();
  }

  void EndPack() {
    const std::scoped_lock lock(mutex_);
    pack_.clear();
    if (std::exchange(shown_, false)) std::cerr << "\r\x1b[K" << std::flush;
  }

  /// Waits for a moment until the guest may be sent more.
  bool WaitForRoom() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kInterval, [this] { return unsent_ <= kMaxUnsent; });
  }

  void AddUnsent(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    unsent_ += bytes;
  }

  /// Closes the pipe at a limit, and shows progress. False when it is closed.
  bool Watch() {
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
    constexpr std::chrono::seconds kQuiet{2};
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    if (now - made_ > kTotal) Break("This took longer than an hour.");
    if (!pack_.empty() && now - touched_ > kSilence) Break("no data for 60 s.");
    if (!pack_.empty() && now - began_ > kQuiet && ::isatty(STDERR_FILENO) != 0) {
      shown_ = true;
      std::cerr << '\r' << pack_ << ": " << (received_ + sent_) / kMebibyte << " MiB\x1b[K"
                << std::flush;
    }
    return !closed_;
  }

  [[nodiscard]] std::string problem() const {
    const std::scoped_lock lock(mutex_);
    return problem_;
  }

  /// The last line of the program's messages.
  [[nodiscard]] std::string LastMessage() const {
    constexpr std::size_t kMaxWords = 300;
    const std::scoped_lock lock(mutex_);
    const std::vector<std::string> lines = Split(message_, '\n');
    return lines.empty() ? "no reason given"
                         : support::Printable(lines.back().substr(0, kMaxWords));
  }

 private:
  void Keep(std::string_view bytes) {
    constexpr std::size_t kKept = 4096;
    const std::scoped_lock lock(mutex_);
    touched_ = Clock::now();
    messages_ += bytes.size();
    message_ += bytes;
    message_.erase(0, message_.size() - std::min(message_.size(), kKept));
    if (messages_ > kMaxReports) Break("The guest reports too much.");
  }

  void CheckSize() {
    if (received_ > max_bytes_) Break(too_large_);
  }

  void Break(const std::string& problem) {
    if (problem_.empty()) problem_ = problem + " Nothing was changed.";
    Close();
  }

  void Close() {
    closed_ = true;
    ::shutdown(end_.get(), SHUT_RDWR);
  }

  const support::FileDescriptor end_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool closed_ = false;
  std::string problem_;
  std::string message_;  // the end of the standard error
  std::uint64_t messages_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t max_bytes_ = kMaxReports;
  std::string too_large_ = "The guest reports too much.";
  std::uint64_t sent_ = 0;
  std::size_t unsent_ = 0;
  std::string pack_;  // what BeginPack was given
  bool shown_ = false;
  const Clock::time_point made_ = Clock::now();
  Clock::time_point began_;
  Clock::time_point touched_;
};

GuestPipe::GuestPipe(guest::Guest& guest, const std::string& program) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  host_end_ = support::FileDescriptor(ends[0]);
  channel_ = std::make_shared<Channel>(support::FileDescriptor(ends[1]));
  process_ = guest.Start(std::string(shell::kCommandLine), channel_);
  pump_ = std::thread([this] { Pump(); });
  // In braces: sh reads all of it before it runs any.
  Answer("{ marker=" + channel_->marker + "\n" + program + "exit; }");
}

GuestPipe::~GuestPipe() {
  EndPack();
  channel_->Stop();
  pump_.join();
}

void GuestPipe::Pump() {
  std::array<char, 65536> buffer{};
  bool ended = false;
  while (channel_->Watch()) {
    pollfd polled{ended ? -1 : channel_->descriptor(), POLLIN, 0};
    const bool has_input = ::poll(&polled, 1, static_cast<int>(kInterval.count())) > 0 && !ended;
    if (!has_input || !channel_->WaitForRoom()) continue;
    const ssize_t count = ::read(channel_->descriptor(), buffer.data(), buffer.size());
    ended = count == 0;
    if (ended) process_->EndInput();
    if (count <= 0) continue;
    const auto length = static_cast<std::size_t>(count);
    channel_->AddUnsent(length);
    process_->Send(std::string(buffer.data(), length));
  }
}

std::vector<std::string> GuestPipe::NextReport() {
  std::array<char, kMaxLine> buffer{};
  while (true) {
    ssize_t count = ::recv(host_end_.get(), buffer.data(), buffer.size(), MSG_PEEK);
    const std::string_view seen(buffer.data(),
                                static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    const std::size_t end = seen.find('\n');
    if (count <= 0 || (end == std::string_view::npos && seen.size() == kMaxLine)) {
      RequireSound();
      throw CallError("The guest's part of this ended: " + channel_->LastMessage());
    }
    if (end == std::string_view::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the rest of the line comes
      continue;
    }
    count = ::read(host_end_.get(), buffer.data(), end + 1);
    taken_ += end + 1;
    std::vector<std::string> words = Split(seen.substr(0, end), ' ');
    // Other lines are what a profile prints.
    if (words.size() < 2 || words.front() != channel_->marker) continue;
    words.erase(words.begin());
    if (words.front() != "fail") return words;
    const std::string reason = words.size() > 1 ? words[1] : "";
    throw Failure(channel_->LastMessage(), reason);
  }
}

void GuestPipe::Answer(const std::string& line) {
  WriteAll(host_end_.get(), line + "\n");
}

void GuestPipe::BeginPack(const std::string& what, std::uint64_t max_bytes) {
  channel_->BeginPack(what, taken_, max_bytes);
}

void GuestPipe::EndPack() {
  channel_->EndPack();
}

void GuestPipe::RequireSound() const {
  const std::string problem = channel_->problem();
  if (!problem.empty()) throw CallError(problem);
}

}  // namespace copy
