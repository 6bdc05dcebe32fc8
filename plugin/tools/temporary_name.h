#pragma once

#include <string>
#include <string_view>

/// The names of the files that hold a new content until it takes the place of the old one.
namespace tools {

/// `.limactl-mcp-` and 16 hexadecimal digits, which may be followed by "-" and a number.
inline constexpr std::string_view kTemporaryPrefix = ".limactl-mcp-";

/// 16 hexadecimal digits that nobody can guess.
std::string RandomToken();

/// Whether `name`, without its directory, is of that form.
bool IsTemporaryName(std::string_view name);

}  // namespace tools
