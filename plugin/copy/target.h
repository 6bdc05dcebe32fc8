#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "copy/guest_script.h"
#include "copy/side_repository.h"
#include "guest/guest.h"
#include "lima/mounts.h"
#include "support/context.h"

namespace copy {

/// The copy of one project in one instance.
struct Target {
  std::string instance;
  std::string project;    ///< on the host
  std::string directory;  ///< in the guest
  guest::Guest& guest;
  SideRepository& side;
};

/// What the guest's working tree is, as the guest reports it.
struct Work {
  std::string id;                  ///< of a commit, which the host may not have
  std::uint64_t commits = 0;       ///< that were not taken
  std::uint64_t files = 0;         ///< that changed since the last take
  std::uint64_t others = 0;        ///< commits on other branches and in stashes
  std::uint64_t lost = 0;          ///< commits that no longer had a branch after a send
  std::vector<std::string> links;  ///< repositories in the copy, which are left out; printable

  /// "3 commits, 2 files and 1 commit elsewhere"; empty if there are none.
  [[nodiscard]] std::string Summary() const;
};

enum class DirectoryState {
  kAbsent,
  kOurs,
  kInterrupted,  ///< while it was sent
  kDamaged,      ///< ours, but git cannot use it
  kForeign,      ///< no copy, or that of another project
};

struct GuestState {
  DirectoryState directory = DirectoryState::kAbsent;
  std::vector<std::string> known;  ///< ids of the side repository that the guest has too
  Work work;                       ///< only if kOurs
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// The text of programs/, which are the values of `programs`, with the variables that all need and
/// `settings`.
std::string MakeProgram(const Target& target, const Settings& settings,
                        std::initializer_list<std::string_view> programs);

/// Reads reports until the program waits for a decision. Throws support::CallError.
GuestState ReadState(GuestScript& script, const Target& target);

/// Throws support::CallError, with what to do, unless the directory is the copy.
void RequireOurs(const GuestState& state, const Target& target);

/// What to do about a report "fail".
[[noreturn]] void ThrowFailure(const GuestScript::Failure& failure, const Target& target);

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
