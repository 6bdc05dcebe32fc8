#pragma once

#include <string>
#include <string_view>

#include "configure/json_tree.h"

namespace configure {

/// How a file is laid out, so that what is added looks like the rest.
struct JsonLayout {
  std::string line_end = "\n";
  std::string unit = "  ";  ///< one step of indentation
};

/// Columns that a list of scalars on one line may take.
inline constexpr std::size_t kPrintWidth = 100;

/// A value as people write it: objects over several lines, lists of scalars on one line where they
/// fit. The first line is not indented, the others by `indent`, which also counts for the width, as
/// do `used` columns before the value.
std::string PrintJson(const Json& value, const JsonLayout& layout, const std::string& indent = "",
                      std::size_t used = 0);

/// A value on one line.
std::string PrintJsonInline(const Json& value);

}  // namespace configure
