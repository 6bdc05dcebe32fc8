// SPDX-License-Identifier: Apache-2.0
#include "copy/served_copy.h"

#include <memory>
#include <utility>
#include <vector>

#include "copy/side_repository.h"
#include "support/errors.h"

namespace copy {
namespace {

std::pair<SidePlace, CopyFacts> FindCopy(const std::filesystem::path& directory,
                                         const std::string& project) {
  const auto place = SidePlace::Find(directory, project);
  if (!place) throw support::Error(SidePlace(directory, project).NoCopyText());
  return {*place, *place->ReadFacts()};
}

}  // namespace

connection::OnlyRoot ServedCopy(const std::filesystem::path& lima_home, const std::string& instance,
                                const std::string& project) {
  const std::filesystem::path directory = lima_home / instance;
  const auto find = [directory, project] {
    const CopyFacts facts = FindCopy(directory, project).second;
    return paths::Root{.host = facts.project, .guest = facts.directory, .writable = true};
  };
  const auto use = [directory, project, instance](const std::vector<lima::Mount>& mounts,
                                                  guest::Guest& guest,
                                                  const support::Context& context) {
    const auto [place, facts] = FindCopy(directory, project);
    RequireNoMount(mounts, facts, instance);
    auto lock = place.TakeUse(LockKind::kShared);
    if (!lock) throw support::Error("the copy is being replaced or dropped; call again later");
    RequireCopy(place, facts, guest, context);
    return std::make_shared<const FileLock>(std::move(*lock));
  };
  return {.find = find, .use = use};
}

}  // namespace copy
