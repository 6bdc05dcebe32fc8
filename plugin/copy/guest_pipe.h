#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"
#include "support/errors.h"

namespace copy {

/// A program in the guest, on a channel of its own. It reports lines of words, and the host
/// answers; a pack goes the one way or the other. Nothing that it reports is trusted. One thread.
///
/// The session's thread waits while the output is not read: only for a program of this host that
/// does nothing else with the connection. Ignore SIGPIPE.
class GuestPipe {
 public:
  /// Without a byte in either direction while there is a pack, and in all.
  static constexpr std::chrono::seconds kSilence{60};
  static constexpr std::chrono::hours kTotal{1};
  /// Bytes of the guest's words that are shown.
  static constexpr std::size_t kMaxMessage = 300;

  /// Starts `program`, a text for /bin/sh that uses $marker.
  GuestPipe(guest::Guest& guest, const std::string& program);
  ~GuestPipe();
  GuestPipe(const GuestPipe&) = delete;
  GuestPipe& operator=(const GuestPipe&) = delete;

  // Each throws support::CallError at a limit. On a terminal, packs show how much has been
  // transferred.

  /// The words of the next report, at least one. Throws support::CallError when the program or the
  /// connection ends.
  std::vector<std::string> NextReport();

  /// The last line of the program's standard error, printable.
  [[nodiscard]] std::string LastMessage() const;

  void Answer(const std::string& line) { Send(line + "\n"); }

  void SendFile(const std::filesystem::path& path);

  /// Passes on all that follows, until `on_bytes` returns false.
  void Receive(std::uint64_t max_bytes, const std::function<bool(std::string_view)>& on_bytes);

 private:
  class Channel;

  void Send(std::string bytes);
  /// Waits until `ready`, or the program has ended; returns `ready`.
  bool Wait(const std::function<bool()>& ready, const char* pack = nullptr);
  /// Adds to `received_`; false if it stays empty, at the end.
  bool ReadMore(const char* pack = nullptr);
  void ShowProgress(const char* pack);

  std::shared_ptr<Channel> channel_;
  std::unique_ptr<shell::Process> process_;
  std::string received_;
  std::size_t used_ = 0;           ///< of `received_`, by reports
  std::uint64_t reported_ = 0;     ///< bytes of reports
  std::uint64_t transferred_ = 0;  ///< bytes of packs
  support::Clock::time_point shown_;
};

}  // namespace copy
