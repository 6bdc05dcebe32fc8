#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "copy/guest_pipe.h"
#include "copy/side_repository.h"
#include "guest/guest.h"
#include "lima/mounts.h"
#include "support/context.h"
#include "support/errors.h"

namespace copy {

/// The copy of one project in one instance.
struct Target {
  std::string instance;
  std::string project;    ///< on the host
  std::string directory;  ///< in the guest
  guest::Guest& guest;
  SideRepository& side;
};

/// What the guest reports before it waits for a decision.
struct GuestState {
  /// As programs/begin.sh has it: absent, ours, interrupted, damaged or foreign.
  std::string directory;
  std::vector<std::string> known;  ///< of the host's commits, those that the guest has too
  std::string work;           ///< of a commit, which the host may not have; empty unless "ours"
  std::uint64_t commits = 0;  ///< that were not taken
  std::uint64_t files = 0;    ///< that changed since the last take; 0 from Fetch
  std::uint64_t others = 0;   ///< commits on other branches and in stashes
  std::uint64_t lost = 0;     ///< commits that no longer had a branch after a send
  std::vector<std::string> links;  ///< repositories in the copy, which are left out; printable

  /// "3 commits, 2 files"; empty if nothing was not taken.
  [[nodiscard]] std::string Summary() const;
};

/// What a copy's commits are compared with: all that the side repository has of its own facts; none
/// if the user's gc has deleted one.
std::vector<std::string> CommonCommits(const SideRepository& side);

/// One of programs/, which runs in the guest.
class Program {
 public:
  using Settings = std::vector<std::pair<std::string, std::string>>;

  /// The program has reported "fail", a reason, and perhaps a detail.
  struct Failure : support::CallError {
    Failure(const std::string& text, std::string why) : CallError(text), reason(std::move(why)) {}
    std::string reason;
  };

  /// Starts `text`, after begin.sh and work.sh, with the variables that all need and `settings`;
  /// reads its reports until it waits for a decision. `common`: commits that need not be sent if
  /// the other side has them too. Throws support::CallError.
  Program(const Target& target, const std::vector<std::string>& common, const Settings& settings,
          std::string_view text);

  GuestState state;
  GuestPipe pipe;

  /// Throws Failure with what the user can do, and as GuestPipe.
  std::vector<std::string> NextReport();

  /// Throws support::CallError, with what to do, unless the directory is the copy.
  void RequireOurs() const;

 private:
  void ReadReport(std::vector<std::string> words);

  const Target& target_;
};

/// "1 file" or "2 files".
std::string Count(std::uint64_t number, const std::string& what);

/// Throws support::CallError if a mount of the instance contains or lies in `directory`.
void RequireNoMount(const std::vector<lima::Mount>& mounts, const std::string& directory,
                    const std::string& instance);

/// Throws support::CallError unless the directory is the complete copy of the place's project. Two
/// or three round trips.
void RequireCopy(const SidePlace& place, const CopyFacts& facts, const std::string& instance,
                 guest::Guest& guest, const support::Context& context);

/// "There is no copy of …", and what to do.
std::string NoCopyText(const std::string& project, const std::string& instance);

}  // namespace copy
