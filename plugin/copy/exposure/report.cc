// SPDX-License-Identifier: Apache-2.0
#include "exposure/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "paths/names.h"
#include "support/format.h"

namespace exposure {

using paths::HasHidden;
using paths::HostProgram;
using paths::HostPrograms;
using paths::LeadsOut;
using paths::List;
using paths::MayBeConfiguration;
using paths::RunBy;
using paths::Visible;
using paths::Writing;
namespace {

using Names = std::vector<std::string>;

constexpr HostProgram kSetting{"", RunBy::kLooking, "git",
                               "a setting, or the file it names, may run commands",
                               Writing::kRefused};

constexpr HostProgram kByName{"", RunBy::kOther, "other tools", "configuration, by its name"};

/// Rows of a section, and names in a line: of settings, of other configuration. What is beyond is
/// counted.
constexpr std::size_t kMaxRows = 20;
constexpr std::size_t kMaxOthers = 10;
constexpr std::size_t kMaxNames = 3;

/// The rows that count for a change, without those that count only beside a HEAD.
std::vector<const HostProgram*> RowsOf(const Change& change, const HostPrograms& programs) {
  if (!change.key.empty()) return {&kSetting};
  std::vector<const HostProgram*> rows = programs.Match(change.path);
  if (rows.empty() && MayBeConfiguration(change.path)) rows.push_back(&kByName);
  std::erase_if(rows, [&](const auto* row) {
    const bool needs_file = row->run_by == RunBy::kLooking && row->writing == Writing::kAllowed;
    return row->writing == Writing::kRefusedBesideHead || (needs_file && change.is_deleted());
  });
  // Two are about .git/HEAD.
  const auto is_same = [](const auto* row, const auto* next) {
    return row->program == next->program && row->writing == Writing::kRefused &&
           next->writing == Writing::kRefused;
  };
  rows.erase(std::unique(rows.begin(), rows.end(), is_same), rows.end());
  return rows;
}

/// One line for each row of the table, so that many files cannot hide another.
Names ListObeyed(const std::vector<Change>& changes, const HostPrograms& programs, Report& report) {
  std::map<std::pair<RunBy, std::string>, Names> names_by_row;
  std::set<std::string_view> protected_paths;
  for (const Change& change : changes) {
    const std::string name = Visible(change.path) +
                             (change.note.empty() ? "" : " (" + Visible(change.note) + ")") +
                             (change.is_deleted() ? " (deleted)" : "");
    for (const HostProgram* row : RowsOf(change, programs)) {
      if (row->writing == Writing::kRefused || row->run_by == RunBy::kConfigured)
        protected_paths.insert(change.path);
      Names& names =
          names_by_row[{row->run_by, support::Format("{}: {}", row->program, row->reason)}];
      // Several settings may name a file.
      if (names.empty() || names.back() != name) names.push_back(name);
    }
  }
  report.protected_files = protected_paths.size();
  Names lines;
  for (const auto& [row, names] : names_by_row) {
    const std::size_t most = row.first == RunBy::kOther              ? kMaxOthers
                             : row.second.ends_with(kSetting.reason) ? kMaxRows
                                                                     : kMaxNames;
    lines.push_back(support::Format("{}: {}", List(names, most), row.second));
  }
  return lines;
}

}  // namespace

void Report::Cut() {
  if (!std::exchange(is_cut, true))
    Add("The rest was not examined: there is too much, or it cannot be read.");
}

Report ReportOn(const std::vector<Change>& changes, const HostPrograms& programs, bool is_cut) {
  Names links;
  Names look_alikes;
  Names hidden;
  Names repositories;
  Names executables;
  std::set<std::string> seen;  // a path may count for several reasons
  for (const Change& change : changes) {
    const bool is_elsewhere = change.key.empty() && !change.note.empty();
    const std::string name =
        Visible(change.path) + (is_elsewhere ? " (" + Visible(change.note) + ")" : "");
    if (!seen.insert(is_elsewhere ? name : change.path).second) continue;
    seen.insert(change.path);
    if (change.mode == kLinkMode && (!change.target || LeadsOut(change.path, *change.target))) {
      links.push_back(name + " -> " + Visible(change.target.value_or("(too long)")));
    }
    if (!change.look_alike.empty()) look_alikes.push_back(name + ": " + Visible(change.look_alike));
    if (HasHidden(change.path)) hidden.push_back(name);
    if (change.mode == git::kRepositoryMode) repositories.push_back(name);
    if (change.mode == kExecutableMode && change.old_mode != kExecutableMode)
      executables.push_back(name);
  }
  Report report;
  const Names obeyed = ListObeyed(changes, programs, report);
  if (!obeyed.empty()) report.Add("Programs on this host run or obey:");
  for (const std::string& line : obeyed) report.Add("  " + line);  // all
  report.AddSection("Links that may lead out of the project:", links);
  report.AddSection("Names that a file system may take for another:", look_alikes);
  report.AddSection("Names with characters that are not seen:", hidden);
  report.AddSection("Submodules:", repositories);
  report.AddSection("New executables:", executables);
  if (is_cut) report.Cut();
  return report;
}

}  // namespace exposure
