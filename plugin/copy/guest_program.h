#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "copy/side_repository.h"
#include "guest/guest.h"
#include "support/context.h"
#include "support/errors.h"

namespace copy {

/// Both sides of a copy.
struct Target {
  SideRepository& side;
  guest::Guest& guest;
  support::Context context = {};  ///< for talking to the guest
};

/// What the guest reports before it waits for a decision.
struct GuestState {
  /// As programs/begin.sh has it: absent, ours, interrupted, damaged, foreign or other.
  std::string directory;
  std::vector<std::string> known;  ///< commits that the host and the guest have
  std::string work;           ///< of a commit, which the host may not have; empty unless "ours"
  std::uint64_t commits = 0;  ///< that were not taken
  std::uint64_t files = 0;    ///< that changed since the last take; 0 from Fetch
  std::uint64_t others = 0;   ///< commits on other branches and in stashes
  std::uint64_t lost = 0;     ///< commits that no longer had a branch after a send
  std::vector<std::string> links;  ///< repositories in the copy, which are left out; printable

  /// "3 commits, 2 files"; empty if nothing was not taken.
  [[nodiscard]] std::string Summary() const;
};

/// One of programs/, on a channel of its own in the guest. It reports lines of words, and the host
/// answers; a pack goes the one way or the other. Nothing that it reports is trusted. One thread.
/// Ignore SIGPIPE.
///
/// The session's thread waits while the output is not read: only for a program of this host that
/// does nothing else with the connection.
///
/// Each function throws support::CallError with what the user can do, also at a limit. On a
/// terminal, packs show how much has been transferred.
class GuestProgram {
 public:
  using Settings = std::vector<std::pair<std::string, std::string>>;

  /// The program has reported "fail" and a reason.
  struct Failure : support::CallError {
    Failure(const std::string& text, std::string why) : CallError(text), reason(std::move(why)) {}
    std::string reason;
  };

  /// What must be sent of what both sides need.
  enum class Packs { kThin, kWhole };

  /// Starts `text`, after begin.sh and work.sh, with the variables that all need and `settings`;
  /// reads its reports until it waits for a decision.
  GuestProgram(const Target& target, Packs packs, const Settings& settings, std::string_view text);
  ~GuestProgram();
  GuestProgram(const GuestProgram&) = delete;
  GuestProgram& operator=(const GuestProgram&) = delete;

  const std::vector<std::string> common;  ///< commits that the host has, and need not be sent
  GuestState state;

  /// Throws, unless the directory is the copy.
  void RequireOurs() const;

  void Answer(const std::string& line) { Send(line + "\n"); }

  /// Waits for the next report. Also throws Failure.
  std::vector<std::string> NextReport();

  void SendFile(const std::filesystem::path& path);

  /// Passes on all that follows, until `on_bytes` returns false.
  void Receive(std::uint64_t max_bytes, const std::function<bool(std::string_view)>& on_bytes);

 private:
  class Channel;

  /// Only starts a shell. After it the destructor runs, whatever the public constructor throws.
  GuestProgram(const Target& target, Packs packs);

  void ReadState(std::vector<std::string> report);
  void Send(std::string bytes);
  /// Waits until `ready`, or the program has ended; returns `ready`.
  bool Wait(const std::function<bool()>& ready, const char* pack = nullptr);
  /// Adds to `received_`; false at the end.
  bool ReadMore(const char* pack = nullptr);
  void ShowProgress(const char* pack);
  /// The last line of the program's standard error, printable.
  [[nodiscard]] std::string LastMessage() const;

  const Target& target_;
  const support::Context context_;
  std::shared_ptr<Channel> channel_;
  std::unique_ptr<shell::Process> process_;
  std::string received_;
  std::size_t used_ = 0;           ///< of `received_`, by reports
  std::uint64_t reported_ = 0;     ///< bytes of reports
  std::uint64_t transferred_ = 0;  ///< bytes of packs
  support::Clock::time_point shown_;
};

}  // namespace copy
