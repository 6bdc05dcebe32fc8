// SPDX-License-Identifier: Apache-2.0
#include "network/denials.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "support/files.h"
#include "support/format.h"
#include "support/join.h"
#include "support/log.h"
#include "support/printable.h"
#include "support/words.h"

namespace network {
namespace {

using support::Format;

/// Whether AllowCommand would help.
bool IsSite(std::string_view denial) {
  return !denial.ends_with(')');
}

}  // namespace

std::string AllowCommand(const std::string& instance, std::string_view site) {
  constexpr std::string_view kDefaultPort = ":443";
  if (site.ends_with(kDefaultPort)) site.remove_suffix(kDefaultPort.size());
  return Format("limactl mcp allow {} {}", instance, site);
}

void Denials::Add(const std::string& target, const std::string& problem) {
  std::string denial = problem.empty() ? target : Format("{} ({})", target, problem);
  const std::scoped_lock lock(mutex_);
  if (++count_ <= kMaxLines && !file_.empty()) std::ofstream(file_, std::ios::app) << denial + '\n';
  if (last_.size() >= kMaxKnown && !last_.contains(denial)) denial = "others (too many)";
  if (std::exchange(last_[denial], count_) == 0)
    support::LogInfo(Format("network: denied {}", denial));
}

std::size_t Denials::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

std::string Denials::NoteSince(std::size_t seen) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  std::vector<std::string> commands;
  std::size_t found = 0;
  for (const auto& [denial, last] : last_) {
    if (last <= seen || ++found > kMaxShown) continue;
    names.push_back(denial);
    if (IsSite(denial)) commands.push_back(AllowCommand(instance_, denial));
  }
  if (found == 0) return "";
  std::string note = Format("network: denied {}", support::Join(names));
  if (found > kMaxShown) note += Format(" and {} more", found - kMaxShown);
  if (commands.empty()) return note;
  return Format("{}. The user can run on the host: {}", note, support::Join(commands, "; "));
}

std::string Denials::NoteFor(const std::string& process, std::size_t seen) {
  {
    const std::scoped_lock lock(mutex_);
    seen = std::exchange(seen_.try_emplace(process, seen).first->second, count_);
  }
  return NoteSince(seen);
}

std::string DescribeDenials(const std::filesystem::path& file, const std::string& instance) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& line : support::Split(support::ReadText(file), '\n')) ++counts[line];
  if (counts.empty()) return "";
  std::vector<std::pair<std::string, std::size_t>> most(counts.begin(), counts.end());
  std::ranges::stable_sort(most, std::greater(), [](const auto& one) { return one.second; });
  std::string text = "The guest was denied:\n";
  for (std::size_t i = 0; i < std::min(most.size(), Denials::kMaxShown); ++i) {
    const std::string denial = support::Printable(most[i].first);
    text += Format("  {}, {} time{}\n", denial, most[i].second, most[i].second == 1 ? "" : "s");
    if (IsSite(denial)) text += Format("    {}\n", AllowCommand(instance, denial));
  }
  if (most.size() > Denials::kMaxShown)
    text += Format("  and {} more\n", most.size() - Denials::kMaxShown);
  return text + "Allow only names that you know: the guest chose them.\n";
}

}  // namespace network
