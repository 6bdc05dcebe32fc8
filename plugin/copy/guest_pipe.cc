#include "copy/guest_pipe.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <mutex>
#include <utility>

#include "copy/git.h"
#include "shell/resident_script.h"
#include "support/printable.h"
#include "support/units.h"

namespace copy {
namespace {

using support::CallError;
using support::Clock;

/// Bytes that may wait for the guest, or for this host.
constexpr std::size_t kMaxWaiting = std::size_t{1} << 20;

/// Bytes of reports, and of messages.
constexpr std::uint64_t kMaxReports = std::uint64_t{4} << 20;

constexpr std::streamsize kPiece = 65536;

constexpr std::chrono::milliseconds kInterval{200};

[[noreturn]] void Stop(const std::string& problem) {
  throw CallError(problem + " Nothing was changed.");
}

}  // namespace

/// What the session's thread and the caller share.
class GuestPipe::Channel final : public shell::ProcessEvents {
 public:
  void OnOutput(shell::Stream stream, std::string_view bytes) override {
    constexpr std::size_t kKept = 4096;
    std::unique_lock lock(mutex);
    touched = Clock::now();
    if (stream == shell::Stream::kError) {
      message_bytes += bytes.size();
      message += bytes;
      message.erase(0, message.size() - std::min(message.size(), kKept));
      return;
    }
    output += bytes;
    changed.notify_all();
    changed.wait(lock, [this] { return output.size() <= kMaxWaiting || closed; });
  }

  void OnInputSent(std::size_t bytes) override {
    const std::scoped_lock lock(mutex);
    touched = Clock::now();
    unsent -= std::min(unsent, bytes);
    changed.notify_all();
  }

  void OnEnd(const shell::ProcessEnd& end) override {
    const std::scoped_lock lock(mutex);
    if (!end.problem.empty()) message += end.problem + '\n';
    ended = true;
    changed.notify_all();
  }

  const std::string marker = shell::MakeEndMarker();
  const Clock::time_point made = Clock::now();

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::string output;
  std::string message;  ///< the end of the standard error
  std::uint64_t message_bytes = 0;
  std::size_t unsent = 0;
  bool ended = false;
  bool closed = false;  ///< by this host
  Clock::time_point touched;
};

GuestPipe::GuestPipe(guest::Guest& guest, const std::string& program)
    : channel_(std::make_shared<Channel>()),
      process_(guest.Start(std::string(shell::kCommandLine), channel_)) {
  // In braces: sh reads all of it before it runs any.
  Answer("{ marker=" + channel_->marker + "\n" + program + "exit; }");
}

GuestPipe::~GuestPipe() {
  if (shown_ != Clock::time_point()) std::cerr << "\x1b[K" << std::flush;
  const std::scoped_lock lock(channel_->mutex);
  channel_->closed = true;
  channel_->changed.notify_all();
}

bool GuestPipe::Wait(const std::function<bool()>& ready, const char* pack) {
  const Clock::time_point began = Clock::now();
  std::unique_lock lock(channel_->mutex);
  while (true) {
    channel_->changed.wait_for(lock, kInterval, [&] { return ready() || channel_->ended; });
    const Clock::time_point now = Clock::now();
    if (channel_->message_bytes > kMaxReports) Stop("The guest reports too much.");
    if (now - channel_->made > kTotal) Stop("This took longer than an hour.");
    if (pack != nullptr) ShowProgress(pack);
    if (ready() || channel_->ended) return ready();
    if (pack != nullptr && now - std::max(began, channel_->touched) > kSilence) {
      Stop("no data for 60 s.");
    }
  }
}

bool GuestPipe::ReadMore(const char* pack) {
  Wait([this] { return !channel_->output.empty(); }, pack);
  const std::scoped_lock lock(channel_->mutex);
  received_ += std::exchange(channel_->output, "");
  channel_->changed.notify_all();
  return !received_.empty();
}

std::vector<std::string> GuestPipe::NextReport() {
  while (true) {
    const std::size_t end = received_.find('\n', used_);
    const std::string line = received_.substr(used_, end - used_);
    if (reported_ + line.size() > kMaxReports) Stop("The guest reports too much.");
    if (end == std::string::npos) {
      received_ = line;
      used_ = 0;
      if (ReadMore() && received_.size() > line.size()) continue;
      throw CallError("The guest's part of this ended: " + LastMessage());
    }
    reported_ += line.size() + 1;
    used_ = end + 1;
    std::vector<std::string> words = Split(line, ' ');
    // Other lines are what a profile prints.
    if (words.size() < 2 || words.front() != channel_->marker) continue;
    words.erase(words.begin());
    return words;
  }
}

void GuestPipe::Send(std::string bytes) {
  {
    const std::scoped_lock lock(channel_->mutex);
    channel_->unsent += bytes.size();
  }
  process_->Send(std::move(bytes));
}

void GuestPipe::SendFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(kPiece, '\0');
  while (file.read(piece.data(), kPiece), file.gcount() > 0) {
    Send(piece.substr(0, static_cast<std::size_t>(file.gcount())));
    transferred_ += static_cast<std::uint64_t>(file.gcount());
    // If it has ended, its report says why.
    if (!Wait([this] { return channel_->unsent <= kMaxWaiting; }, "Sending")) return;
  }
}

void GuestPipe::Receive(std::uint64_t max_bytes,
                        const std::function<bool(std::string_view)>& on_bytes) {
  constexpr const char* kPack = "Receiving";
  received_.erase(0, std::exchange(used_, 0));
  while (!received_.empty() || ReadMore(kPack)) {
    transferred_ += received_.size();
    if (transferred_ > max_bytes) {
      Stop("More than " + support::FormatByteCount(max_bytes) + " (--max-size).");
    }
    if (!on_bytes(received_)) return;
    received_.clear();
  }
}

void GuestPipe::ShowProgress(const char* pack) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  constexpr std::chrono::seconds kQuiet{2};
  const auto now = Clock::now();
  if (now - channel_->made < kQuiet || now - shown_ < kInterval) return;
  if (::isatty(STDERR_FILENO) == 0) return;
  shown_ = now;
  // What is said next replaces it.
  std::cerr << pack << ": " << transferred_ / kMebibyte << " MiB\x1b[K\r" << std::flush;
}

std::string GuestPipe::LastMessage() const {
  const std::scoped_lock lock(channel_->mutex);
  const std::vector<std::string> lines = Split(channel_->message, '\n');
  return lines.empty() ? "no reason given"
                       : support::Printable(lines.back().substr(0, kMaxMessage));
}

}  // namespace copy
