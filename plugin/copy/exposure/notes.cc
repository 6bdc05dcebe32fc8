// SPDX-License-Identifier: Apache-2.0
#include "exposure/notes.h"

#include <algorithm>

#include "paths/names.h"
#include "support/format.h"
#include "support/printable.h"

namespace exposure {

using support::Format;

void Notes::Add(const std::string& line) {
  lines_.push_back(support::Printable(line));
}

void Notes::Add(const Notes& more) {
  lines_.insert(lines_.end(), more.lines_.begin(), more.lines_.end());
}

void Notes::AddFirst(const Notes& more) {
  lines_.insert(lines_.begin(), more.lines_.begin(), more.lines_.end());
}

void Notes::AddSection(const std::string& title, const std::vector<std::string>& names) {
  constexpr std::size_t kMaxRows = 20;
  if (names.empty()) return;
  lines_.push_back(title);
  const std::size_t shown = std::min(names.size(), kMaxRows);
  for (std::size_t i = 0; i < shown; ++i) lines_.push_back("  " + names[i]);
  if (names.size() > shown) lines_.push_back(Format("  and {} more", names.size() - shown));
}

void Notes::AddNote(const std::string& text, std::vector<std::string> names) {
  constexpr std::size_t kMaxNames = 10;
  for (std::string& name : names) name = paths::Visible(name);
  if (!names.empty()) Add(Format("Note: {} {}.", text, paths::List(names, kMaxNames)));
}

void Notes::Print(std::ostream& out) const {
  for (const std::string& line : lines_) out << line << '\n';
}

}  // namespace exposure
