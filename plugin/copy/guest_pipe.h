#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "guest/guest.h"
#include "support/errors.h"
#include "support/file_descriptor.h"

namespace copy {

/// A program in the guest, on a channel of its own, with its standard input and output at a
/// descriptor of this host, where git can write or read a pack. Before that, the program reports
/// lines of words, and the host answers. Nothing that it reports is trusted.
///
/// The session's thread waits while the output is not read: only for a program of this host that
/// does nothing else with the connection. Ignore SIGPIPE.
class GuestPipe {
 public:
  /// Both without a byte in either direction while there is a pack, and in all.
  static constexpr std::chrono::seconds kSilence{60};
  static constexpr std::chrono::hours kTotal{1};

  /// The program has reported "fail" and a reason.
  class Failure : public support::CallError {
   public:
    Failure(const std::string& text, std::string reason)
        : CallError(text), reason_(std::move(reason)) {}
    [[nodiscard]] const std::string& reason() const { return reason_; }

   private:
    std::string reason_;
  };

  /// Starts `program`, a text for /bin/sh that uses $marker.
  GuestPipe(guest::Guest& guest, const std::string& program);
  ~GuestPipe();
  GuestPipe(const GuestPipe&) = delete;
  GuestPipe& operator=(const GuestPipe&) = delete;

  /// The words of the next report. Throws support::CallError when the program or the connection
  /// ends, and as RequireSound.
  std::vector<std::string> NextReport();

  void Answer(const std::string& line);

  [[nodiscard]] int descriptor() const { return host_end_.get(); }

  /// A pack follows, with at most `max_bytes` from the guest. On a terminal, shows after two
  /// seconds how much has been transferred, after `what`.
  void BeginPack(const std::string& what, std::uint64_t max_bytes);
  void EndPack();

  /// Throws support::CallError if the pipe was closed because of a limit.
  void RequireSound() const;

 private:
  class Channel;

  void Pump();

  support::FileDescriptor host_end_;
  std::shared_ptr<Channel> channel_;
  std::unique_ptr<shell::Process> process_;
  std::uint64_t taken_ = 0;  ///< bytes of reports
  std::thread pump_;
};

}  // namespace copy
