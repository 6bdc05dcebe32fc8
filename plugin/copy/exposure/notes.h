// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace exposure {

/// What a command tells the user: printable lines, bounded in length.
class Notes {
 public:
  Notes() = default;
  explicit Notes(const std::string& line) { Add(line); }

  void Add(const std::string& line);
  void Add(const Notes& more);
  void AddFirst(const Notes& more);
  /// The title, and up to 20 names below it, as they are; nothing without names.
  void AddSection(const std::string& title, const std::vector<std::string>& names);
  /// "Note: TEXT a, b.", with up to ten names, which are made visible; nothing without names.
  void AddNote(const std::string& text, std::vector<std::string> names);

  [[nodiscard]] bool empty() const { return lines_.empty(); }
  void Print(std::ostream& out) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace exposure
