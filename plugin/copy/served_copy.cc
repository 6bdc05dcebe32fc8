// SPDX-License-Identifier: Apache-2.0
#include "copy/served_copy.h"

#include <memory>
#include <utility>

#include "lima/sandbox.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/paths.h"

namespace copy {
namespace {

std::pair<SidePlace, CopyFacts> FindCopy(const std::filesystem::path& directory,
                                         const Choice& choice) {
  const auto place = SidePlace::Find(directory, choice.project, choice.name);
  if (!place) throw support::Error(SidePlace(directory, choice.project, choice.name).NoCopyText());
  return {*place, *place->ReadFacts()};
}

/// Throws support::Error unless the directory is the complete copy of the place's project. Two
/// or three round trips.
void RequireCopy(const SidePlace& place, const CopyFacts& facts, guest::Guest& guest,
                 const support::Context& context) {
  constexpr std::size_t kLength = 64;
  const std::string marker = facts.directory + "/.git/limactl-mcp";
  std::vector<guest::Reply> replies = guest.RoundTrip(
      {guest::Request::LStat(marker), guest::Request::LStat(marker + ".next")}, context);
  const bool is_there = !replies[0].failure &&
                        replies[0].As<guest::FileAttributes>().type == guest::FileType::kRegular;
  if (is_there && replies[1].failure) {
    const auto file = guest.Open(marker, guest::OpenMode::kRead, 0, context);
    if (file->ReadSome(0, kLength, context) == place.id + "\n") return;
  }
  throw support::Error(place.NoCopyText());
}

}  // namespace

void RequireNoMount(const std::vector<lima::Mount>& mounts, const CopyFacts& facts,
                    const std::string& instance) {
  for (const lima::Mount& mount : mounts) {
    const bool is_apart = !support::PathBelow(facts.directory, mount.mount_point) &&
                          !support::PathBelow(mount.mount_point, facts.directory);
    if (is_apart) continue;
    if (!facts.sent.empty()) {
      throw support::Error("{} mounts {} over the copy of {}. Remove that mount: {}", instance,
                           mount.location, facts.project, lima::EditCommands(instance));
    }
    throw support::Error(
        "{} mounts {}: the guest would see both. Use --copy-dir DIR, "
        "another directory of the guest, or an instance without mounts: {}",
        instance, mount.location,
        shell::ShellCommand(lima::MountlessSandboxCommand(instance + "-copies")));
  }
}

connection::OnlyRoot ServedCopy(const std::filesystem::path& lima_home, const std::string& instance,
                                const Choice& choice) {
  const std::filesystem::path directory = lima_home / instance;
  const auto find = [directory, choice] {
    const CopyFacts facts = FindCopy(directory, choice).second;
    return paths::Root{.host = facts.name.empty() ? facts.project : facts.directory,
                       .guest = facts.directory,
                       .writable = true};
  };
  const auto use = [directory, choice, instance](const std::vector<lima::Mount>& mounts,
                                                 guest::Guest& guest,
                                                 const support::Context& context) {
    const auto [place, facts] = FindCopy(directory, choice);
    RequireNoMount(mounts, facts, instance);
    auto lock = place.TakeUse(LockKind::kShared);
    if (!lock) throw support::Error("the copy is being replaced or dropped; call again later");
    RequireCopy(place, facts, guest, context);
    return std::make_shared<const FileLock>(std::move(*lock));
  };
  return {.find = find, .use = use};
}

}  // namespace copy
