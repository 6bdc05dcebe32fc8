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

std::string Text(const Denial& denial) {
  return denial.problem.empty() ? denial.target : Format("{} ({})", denial.target, denial.problem);
}

}  // namespace

std::string AllowCommand(const std::string& instance, std::string_view target) {
  constexpr std::string_view kDefaultPort = ":443";
  if (target.ends_with(kDefaultPort)) target.remove_suffix(kDefaultPort.size());
  return Format("limactl mcp allow {} {}", instance, target);
}

void Denials::Add(const Denial& denial) {
  const std::scoped_lock lock(mutex_);
  ++count_;
  if (count_ <= kMaxLines && !file_.empty())
    std::ofstream(file_, std::ios::app) << denial.target + '\t' + denial.problem + '\n';
  const bool is_known = last_.contains(denial);
  if (!is_known && last_.size() >= kMaxKnown) {
    last_other_ = count_;
    return;
  }
  last_[denial] = count_;
  if (!is_known) support::LogInfo(Format("network: denied {}", Text(denial)));
}

std::size_t Denials::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

std::string Denials::NoteSince(std::size_t seen) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  std::vector<std::string> commands;
  std::size_t more = 0;
  for (const auto& [denial, last] : last_) {
    if (last <= seen) continue;
    if (names.size() == kMaxShown) {
      ++more;
      continue;
    }
    names.push_back(Text(denial));
    if (denial.problem.empty()) commands.push_back(AllowCommand(instance_, denial.target));
  }
  if (last_other_ > seen) names.emplace_back("others");
  if (names.empty()) return "";
  std::string note = Format("network: denied {}", support::Join(names));
  if (more > 0) note += Format(" and {} more", more);
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
    const std::string& line = most[i].first;
    const Denial denial{line.substr(0, line.find('\t')), line.substr(line.find('\t') + 1)};
    text += Format("  {}, {} time{}\n", support::Printable(Text(denial)), most[i].second,
                   most[i].second == 1 ? "" : "s");
    if (denial.problem.empty())
      text += Format("    {}\n", support::Printable(AllowCommand(instance, denial.target)));
  }
  if (most.size() > Denials::kMaxShown)
    text += Format("  and {} more\n", most.size() - Denials::kMaxShown);
  return text + "Allow only names that you know: the guest chose them.\n";
}

}  // namespace network
