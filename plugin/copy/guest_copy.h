#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "copy/side_repository.h"
#include "copy/untaken.h"
#include "guest/guest.h"
#include "support/context.h"
#include "support/errors.h"

/// What is done to the copy in the guest, by programs/ and the guest's file requests.
/// Nothing that the guest says is trusted. Each function throws support::Error with what the
/// user can do, also at a limit; on a terminal, packs show how much has been transferred.
namespace copy {

/// Both sides of a copy.
struct Target {
  SideRepository& side;
  guest::Guest& guest;
  support::Context context = {};  ///< for talking to the guest
};

/// What the guest says of its side.
struct GuestState {
  /// As look() of look.sh has it: absent, ours, interrupted, damaged, foreign or other.
  std::string directory;
  std::vector<std::string> known;  ///< commits that the host and the guest have
  std::string work;  ///< of a commit, which the host may not have; empty unless "ours"
  Untaken untaken;
  std::string found;  ///< a branch with what was made in a copy that was interrupted
};

/// Variables of a call, besides those that all need.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Commits of the side repository's facts, which need not be sent; none if the user's gc has
/// deleted one.
std::vector<std::string> CommonCommits(const SideRepository& side);

/// Runs a program after begin() of look.sh, and reads what it says.
GuestState CallGuest(const Target& target, const Settings& settings, const std::string& program);

/// Looks at the copy, and makes a commit of what is in it, unless FORCE is set. Changes nothing
/// else. The one answer to what was not taken.
GuestState Look(const Target& target, const std::vector<std::string>& common,
                const Settings& settings = {});

/// Throws, unless the directory is the copy.
void RequireOurs(const Target& target, const GuestState& state);

/// To a new file in the guest.
void SendFile(const Target& target, const std::filesystem::path& file, const std::string& to);

/// Passes on a pack of what the revisions name, in lines, until `on_bytes` returns false. That is
/// called by the connection's thread, which waits for it: only in a program that does nothing else
/// with the connection.
void ReceivePack(const Target& target, const std::string& revisions, std::uint64_t max_size,
                 const std::function<bool(std::string_view)>& on_bytes);

}  // namespace copy
