#include "copy/guest_script.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <utility>

#include "copy/git.h"
#include "shell/resident_script.h"
#include "support/errors.h"
#include "support/printable.h"

namespace copy {
namespace {

using support::CallError;
using support::Clock;

/// Bytes of input that may wait for the guest.
constexpr std::size_t kMaxUnsent = std::size_t{512} << 10;

constexpr std::size_t kMaxWords = 300;

bool WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

/// What the session's thread reports.
class GuestScript::Channel final : public shell::ProcessEvents {
 public:
  explicit Channel(std::string marker) : marker_(std::move(marker)) {}

  [[nodiscard]] const std::string& marker() const { return marker_; }

  void OnOutput(shell::Stream stream, std::string_view bytes) override {
    const std::scoped_lock lock(mutex_);
    if (stream == shell::Stream::kError) {
      messages_ += bytes.size();
      error_ += bytes;
      if (error_.size() > kMaxError) error_.erase(0, error_.size() - kMaxError);
    } else if (receives_pack_) {
      Pass(bytes);
    } else {
      messages_ += bytes.size();
      if (messages_ <= kMaxReports) text_ += bytes;
    }
    Touch();
  }

  void OnInputSent(std::size_t bytes) override {
    const std::scoped_lock lock(mutex_);
    unsent_ -= std::min(unsent_, bytes);
    Touch();
  }

  void OnEnd(const shell::ProcessEnd& end) override {
    const std::scoped_lock lock(mutex_);
    end_ = end;
    sink_.Close();
    Touch();
  }

  void AddUnsent(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    unsent_ += bytes;
  }

  /// Waits until `done` is true, which is called with the lock held.
  void Wait(
      const support::Context& context, bool may_be_silent, const std::function<bool()>& done,
      const std::function<void()>& show = [] {}) {
    constexpr std::chrono::milliseconds kInterval{200};
    std::unique_lock lock(mutex_);
    touched_ = Clock::now();
    while (!done()) {
      if (messages_ > kMaxReports) throw CallError("The guest reports too much.");
      if (end_) throw CallError("The guest's part of this ended: " + Ending());
      if (context.stop_reason() != support::StopReason::kNone) {
        throw CallError("This took longer than an hour.");
      }
      if (!may_be_silent && Clock::now() - touched_ > kSilence) {
        throw CallError("no data for 60 s.");
      }
      changed_.wait_for(lock, kInterval);
      show();
    }
  }

  /// For Wait.
  [[nodiscard]] bool takes_pack() const { return sink_.valid(); }
  [[nodiscard]] bool has_line() const { return text_.find('\n') != std::string::npos; }
  [[nodiscard]] bool has_ended() const { return end_.has_value(); }
  [[nodiscard]] std::size_t unsent() const { return unsent_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] bool too_large() const { return too_large_; }

  std::string TakeLine() {
    const std::scoped_lock lock(mutex_);
    const std::size_t length = text_.find('\n');
    std::string line = text_.substr(0, length);
    text_.erase(0, length + 1);
    return line;
  }

  void BeginPack(support::FileDescriptor sink, std::uint64_t max_bytes) {
    const std::scoped_lock lock(mutex_);
    receives_pack_ = true;
    sink_ = std::move(sink);
    max_bytes_ = max_bytes;
    Pass(std::exchange(text_, ""));
    if (end_) sink_.Close();
  }

  std::string LastMessage() {
    const std::scoped_lock lock(mutex_);
    return Ending();
  }

 private:
  static constexpr std::size_t kMaxError = 4096;

  /// The last line of the standard error, else how the program ended.
  [[nodiscard]] std::string Ending() const {
    std::string text = end_ ? end_->problem : "";
    if (text.empty() && end_ && end_->exit_status) {
      text = "exit status " + std::to_string(*end_->exit_status);
    }
    for (const std::string& line : Split(error_, '\n')) {
      if (!line.empty()) text = line;
    }
    return support::Printable(text.substr(0, kMaxWords));
  }

  void Touch() {
    touched_ = Clock::now();
    changed_.notify_all();
  }

  void Pass(std::string_view bytes) {
    received_ += bytes.size();
    too_large_ = received_ > max_bytes_;
    if (too_large_ || (sink_.valid() && !WriteAll(sink_.get(), bytes))) sink_.Close();
  }

  const std::string marker_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::string text_;   // not yet taken
  std::string error_;  // the end
  std::size_t messages_ = 0;
  std::size_t unsent_ = 0;
  std::optional<shell::ProcessEnd> end_;
  bool receives_pack_ = false;
  support::FileDescriptor sink_;
  std::uint64_t received_ = 0;
  std::uint64_t max_bytes_ = 0;
  bool too_large_ = false;
  Clock::time_point touched_ = Clock::now();
};

GuestScript::Failure::Failure(std::string reason, std::string detail)
    : CallError(support::Printable(reason + ": " + detail)),
      reason_(std::move(reason)),
      detail_(std::move(detail)) {}

GuestScript::GuestScript(guest::Guest& guest, const std::string& program)
    : channel_(std::make_shared<Channel>(shell::MakeEndMarker())) {
  process_ = guest.Start(std::string(shell::kCommandLine), channel_);
  // In braces: sh reads all of it before it runs any.
  Answer("{ marker=" + channel_->marker() + "\n" + program + "exit; }");
}

GuestScript::~GuestScript() = default;

std::vector<std::string> GuestScript::NextReport() {
  while (true) {
    channel_->Wait(context_, true, [this] { return channel_->has_line(); });
    std::vector<std::string> words = Split(channel_->TakeLine(), ' ');
    // Others are what a profile prints.
    if (words.size() < 2 || words.front() != channel_->marker()) continue;
    words.erase(words.begin());
    if (words.front() == "fail") {
      throw Failure(words.size() > 1 ? words[1] : "", channel_->LastMessage());
    }
    return words;
  }
}

void GuestScript::Answer(const std::string& line) {
  channel_->AddUnsent(line.size() + 1);
  process_->Send(line + "\n");
}

void GuestScript::SendPack(std::string_view bytes, Progress& progress) {
  channel_->AddUnsent(bytes.size());
  process_->Send(std::string(bytes));
  bool has_report = false;
  channel_->Wait(context_, false, [&] {
    has_report = channel_->has_line();
    return has_report || channel_->unsent() <= kMaxUnsent;
  });
  if (has_report) NextReport();  // that it failed
  progress.Add(bytes.size());
}

bool GuestScript::ReceivePack(support::FileDescriptor file, std::uint64_t max_bytes,
                              Progress& progress) {
  channel_->BeginPack(std::move(file), max_bytes);
  channel_->Wait(
      context_, false, [this] { return !channel_->takes_pack(); },
      [&] { progress.Show(channel_->received()); });
  return !channel_->too_large();
}

Progress::Progress(std::string what)
    : what_(std::move(what)), on_terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::Show(std::uint64_t bytes) {
  constexpr std::chrono::milliseconds kInterval{200};
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  bytes_ = bytes;
  const auto now = support::Clock::now();
  if (!on_terminal_ || now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  std::cerr << '\r' << what_ << ": " << bytes / kMebibyte << " MiB\x1b[K" << std::flush;
}

}  // namespace copy
