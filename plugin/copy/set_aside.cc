// SPDX-License-Identifier: Apache-2.0
#include "copy/set_aside.h"

#include <algorithm>
#include <utility>

namespace copy {
namespace {

namespace fs = std::filesystem;

std::int64_t Now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The number in "ID-NUMBER.git"; 0: not set aside.
std::int64_t TimeOf(const fs::path& repository) {
  constexpr std::size_t kMaxDigits = 12;
  const std::string name = repository.stem().string();
  const std::string number = name.substr(std::min(name.find('-'), name.size() - 1) + 1);
  const bool is_number = !number.empty() && number.size() <= kMaxDigits &&
                         number.find_first_not_of("0123456789") == std::string::npos;
  return is_number && name.find('-') != std::string::npos ? std::stoll(number) : 0;
}

SetAside At(const fs::path& repository, CopyFacts facts) {
  const std::int64_t time = TimeOf(repository);
  std::string name = PlainName(facts.project) + "-" + std::to_string(time);
  return {std::move(facts), repository, time, std::move(name)};
}

}  // namespace

bool SetAside::IsOld() const {
  return time + std::chrono::duration_cast<std::chrono::seconds>(kKept).count() < Now();
}

std::vector<SetAside> ListSetAside(const fs::path& instance_directory, const SidePlace* place) {
  std::vector<SetAside> all;
  for (const fs::path& repository : ListRepositories(instance_directory)) {
    auto facts = TimeOf(repository) > 0 ? ReadFactsIn(repository) : std::nullopt;
    if (!facts) continue;
    if (place != nullptr && (facts->project != place->project || facts->name != place->name))
      continue;
    all.push_back(At(repository, std::move(*facts)));
  }
  std::sort(all.begin(), all.end(),
            [](const SetAside& a, const SetAside& b) { return a.time > b.time; });
  return all;
}

SetAside NewSetAside(const SidePlace& place, const CopyFacts& facts) {
  std::int64_t time = Now();
  const auto all = ListSetAside(place.instance_directory);
  if (!all.empty()) time = std::max(time, all.front().time + 1);
  return At(place.repository.parent_path() / (place.id + "-" + std::to_string(time) + ".git"),
            facts);
}

SidePlace PlaceOf(SidePlace place, const SetAside& aside) {
  place.repository = aside.repository;
  return place;
}

std::string PlainName(const std::string& path) {
  constexpr std::size_t kMaxLength = 100;
  std::string name = fs::path(path).filename().string().substr(0, kMaxLength);
  for (char& character : name) {
    const bool is_plain = (character >= '0' && character <= '9') ||
                          (character >= 'A' && character <= 'Z') ||
                          (character >= 'a' && character <= 'z') ||
                          std::string_view("._-").find(character) != std::string_view::npos;
    if (!is_plain) character = '-';
  }
  return name;
}

}  // namespace copy
