#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"
#include "support/file_descriptor.h"

namespace copy {

/// Shows on a terminal how many bytes have been transferred, if it takes longer than kQuiet.
class Progress {
 public:
  static constexpr std::chrono::seconds kQuiet{2};

  /// `what` is printable: "Sending".
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(std::uint64_t bytes);
  void Add(std::uint64_t bytes) { Show(bytes_ + bytes); }

 private:
  const std::string what_;
  const bool on_terminal_;
  std::uint64_t bytes_ = 0;
  bool shown_ = false;
  support::Clock::time_point next_ = support::Clock::now() + kQuiet;
};

/// One program in the guest, on a channel of its own, and the conversation with it: it reports
/// lines of words, the host answers with lines, and one pack goes in either direction. Nothing that
/// it reports is trusted. One thread.
///
/// The session's thread waits while the receiver of a pack is busy: this program does nothing else
/// with the connection meanwhile.
///
/// Every function throws support::CallError: for a report "fail REASON" as `Failure`, when the
/// program or the connection ends, when nothing is transferred for kSilence, after kTotal, and for
/// more than kMaxReports bytes of reports or messages.
class GuestScript {
 public:
  static constexpr std::chrono::seconds kSilence{60};
  static constexpr std::chrono::hours kTotal{1};
  static constexpr std::size_t kMaxReports = std::size_t{4} << 20;

  /// The program has reported that it failed.
  class Failure : public support::CallError {
   public:
    Failure(std::string reason, std::string detail);

    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] const std::string& detail() const { return detail_; }

   private:
    std::string reason_;
    std::string detail_;  // printable
  };

  /// Starts `program`, a text for /bin/sh that uses $marker.
  GuestScript(guest::Guest& guest, const std::string& program);
  ~GuestScript();
  GuestScript(const GuestScript&) = delete;
  GuestScript& operator=(const GuestScript&) = delete;

  /// The words of the next report.
  std::vector<std::string> NextReport();

  void Answer(const std::string& line);

  /// Sends a part of a pack. Waits until most has left this host.
  void SendPack(std::string_view bytes, Progress& progress);

  /// Writes everything that the program still prints to `file`, a pipe, until the program ends or
  /// the reader closes the pipe. Returns false if it is more than `max_bytes`.
  bool ReceivePack(support::FileDescriptor file, std::uint64_t max_bytes, Progress& progress);

 private:
  class Channel;

  std::shared_ptr<Channel> channel_;
  std::unique_ptr<shell::Process> process_;
  support::Context context_ = support::Context().WithTimeout(kTotal);
};

}  // namespace copy
