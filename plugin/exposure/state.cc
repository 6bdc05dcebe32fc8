// SPDX-License-Identifier: Apache-2.0
#include "exposure/state.h"

#include <fcntl.h>

#include "git/objects.h"
#include "lima/text_file.h"
#include "support/errors.h"
#include "support/file_descriptor.h"

namespace exposure {

std::vector<Change> Compare(const State& before, const State& after) {
  std::vector<Change> changes;
  const Item none{git::kNoEntry, ""};
  auto was = before.items.begin();
  auto is = after.items.begin();
  while (was != before.items.end() || is != after.items.end()) {
    const bool is_gone =
        is == after.items.end() || (was != before.items.end() && was->first < is->first);
    const bool is_new = was == before.items.end() || (!is_gone && is->first < was->first);
    const auto& [path, key] = is_gone ? was->first : is->first;
    const Item& old_item = is_new ? none : (was++)->second;
    const Item& item = is_gone ? none : (is++)->second;
    if (old_item == item || (is_gone && after.is_cut)) continue;  // if cut, it may be there
    Change change{{path, old_item.mode, item.mode, "", ""}, {}, "", key, key};
    if (item.mode == kLinkMode) change.target = item.value;
    if (item.mode == kTreeMode) change.note = item.value;
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string Serialize(const State& state) {
  std::string text;
  for (const auto& [place, item] : state.items) {
    for (const std::string& field : {place.first, place.second, item.mode, item.value}) {
      text += field + '\0';
    }
  }
  return text;
}

std::optional<std::string> ReadRegularFile(const std::filesystem::path& file,
                                           std::size_t limit) try {
  const support::FileDescriptor opened(
      ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return lima::ReadTextFile(opened, file, limit);
} catch (const support::Error&) {
  return std::nullopt;
}

}  // namespace exposure
