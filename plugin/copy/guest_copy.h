// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "copy/side_repository.h"
#include "copy/untaken.h"
#include "git/objects.h"
#include "guest/guest.h"
#include "support/context.h"

/// Work on the copy in the guest, by programs/ and file requests. Nothing that the guest reports is
/// trusted. The guest must be connected. Each function throws support::Error with what the user can
/// do, also at a limit. On a terminal, packs show how much has been transferred.
namespace copy {

class Copy;

/// A state of the copy's files that programs/checkpoint.sh has kept.
struct Checkpoint {
  std::uint64_t number = 0;
  std::uint64_t files = 0;  ///< that differ from the one before it
  std::time_t time = 0;     ///< the guest's
  std::string id = {};      ///< of the commit
  std::string note = {};    ///< printable
};

/// The guest's report on the copy.
struct GuestState {
  /// What look() in look.sh prints, or "directory": it cannot be made, and nothing was.
  std::string directory = {};
  std::vector<std::string> known = {};  ///< commits that the host and the guest have
  std::string work = {};       ///< a commit, which the host may not have; empty unless "ours"
  git::TreeEntries tree = {};  ///< of `work`, if Fetch has brought it
  std::string head = {};       ///< HEAD's full ref name, such as "refs/heads/x", or "detached"
  Untaken untaken = {};
  std::vector<std::string> aside = {};       ///< names of what is set aside of the project
  std::vector<Checkpoint> checkpoints = {};  ///< the newest first
  std::uint64_t now = 0;                     ///< the checkpoint that the files are like
  std::uint64_t undone = 0;                  ///< how many files were put back
  std::uint64_t before = 0;                  ///< the checkpoint from before that

  /// Whether the directory has the copy's marker.
  [[nodiscard]] bool IsMarked() const {
    return directory == "ours" || directory == "damaged" || directory == "interrupted";
  }
};

/// A copy for a call, which need not hold its lock.
struct Site {
  Site(const SidePlace& where, const CopyFacts& known) : place(where), facts(known) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is that of the repository.
  Site(const SideRepository& side) : place(side.place()), facts(side.facts()) {}

  const SidePlace& place;
  const CopyFacts& facts;
};

/// Variables of a call, besides those that all need.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The commits of the side repository's facts, which need not be sent; none if the user's gc has
/// deleted one.
std::vector<std::string> CommonCommits(const SideRepository& side);

/// Runs a program after begin() of look.sh, and reads its report.
GuestState CallGuest(const Site& site, guest::Guest& guest, const Settings& settings,
                     const std::string& program, const support::Context& context = {});
GuestState CallGuest(Copy& copy, const Settings& settings, const std::string& program);

/// Inspects the copy, and makes a commit of its working tree in its object store, unless ONLY_STATE
/// is set. Changes nothing else. The one answer to what was not taken; unless `is_counted`, it has
/// no numbers.
GuestState CommitGuestWork(Copy& copy, const std::vector<std::string>& common,
                           const Settings& settings = {}, bool is_counted = true);

/// Throws, unless the directory is the copy.
void RequireOurs(const Site& site, const GuestState& state);

/// Copies a file to a new one in the guest.
void SendFile(Copy& copy, const std::filesystem::path& file, const std::string& to,
              std::uint32_t permissions = 0444);

/// Passes on a pack that `program` makes of the revisions (lines) until `on_bytes` returns false.
/// The connection's thread calls `on_bytes` and waits for it, so nothing else may use the
/// connection meanwhile.
void ReceivePack(Copy& copy, const std::string& program, const std::string& revisions,
                 std::uint64_t max_size, const std::function<bool(std::string_view)>& on_bytes);

}  // namespace copy
