#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Bytes of valid UTF-8 to what stands between the quotes of a JSON string. Works byte by byte, so
/// that a text may be handed over in pieces cut anywhere.
namespace mcp {

enum class Escaping {
  kNone,   ///< as it is
  kOnce,   ///< as the content of a JSON string
  kTwice,  ///< as the content of a JSON string within JSON that is itself the content of a string
};

/// The longest that one byte becomes: "\\u001f", with both backslashes.
inline constexpr std::size_t kLongestEscape = 7;

/// Appends `text`.
void AppendEscaped(std::string& out, std::string_view text, Escaping escaping);

}  // namespace mcp
