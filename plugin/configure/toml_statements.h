#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "configure/change.h"

namespace configure {

/// A line, or several, of TOML: `[a.b]`, `[[a.b]]`, or `a.b = value`.
struct TomlStatement {
  enum class Kind { kTable, kTableOfArray, kKey };

  Kind kind = Kind::kKey;
  KeyPath path;                 ///< with the names of the table that it stands in
  std::size_t table_depth = 0;  ///< how many of the names are those of that table
  std::size_t begin = 0;        ///< of its first line, indentation included
  std::size_t end = 0;          ///< behind the line end of its last line
  std::size_t value = 0;        ///< of a key: where its value begins …
  std::size_t value_end = 0;    ///< … and ends, before blanks and a comment
};

/// Names of one key or header ("a.b" has two); more are refused.
inline constexpr std::size_t kMaximumTomlNames = 32;

/// The statements of a text of TOML in their order; comments and blank lines stand between them.
/// Throws SettingsError when the text is no TOML, as the library toml++ reads it, or a key has more
/// than kMaximumTomlNames names.
std::vector<TomlStatement> ParseToml(const std::string& text);

/// Whether two texts of values mean the same, however they are written. Both must be valid.
bool SameTomlValue(const std::string& left, const std::string& right);

}  // namespace configure
