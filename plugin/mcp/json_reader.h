#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// Strict JSON (RFC 8259) with limits that bound memory and stack for any input.
namespace mcp {

/// How deep arrays and objects may be nested. Tool arguments are three deep.
inline constexpr std::size_t kMaxJsonDepth = 128;

/// How many values one text may hold, members of objects included. A value takes up to 100 bytes
/// of memory but as little as two bytes of text, so the line length alone bounds nothing.
inline constexpr std::size_t kMaxJsonValues = 262'144;

// NOLINTNEXTLINE(bugprone-exception-escape): clang-tidy 14 doubts the noexcept of nlohmann/json
struct JsonText {
  enum class Problem {
    kNone,
    kSyntax,   ///< not JSON, or not UTF-8
    kTooLarge  ///< beyond kMaxJsonDepth or kMaxJsonValues
  };

  Problem problem = Problem::kNone;

  /// What is wrong, at which byte. Never repeats the text, which may be long and hostile.
  std::string explanation;

  /// Null after kSyntax. After kTooLarge incomplete, but a top-level "id" is there, so that the
  /// error can be sent for the right request.
  nlohmann::json value;
};

/// The last of two members with the same name counts. Numbers beyond the range of a double, NUL
/// bytes and unpaired surrogates are syntax errors. Whole numbers beyond 64 bits become doubles.
[[nodiscard]] JsonText ParseJson(std::string_view text);

}  // namespace mcp
