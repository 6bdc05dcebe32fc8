#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// JSON text from outside to values: strict (RFC 8259), with limits that keep the memory and the
/// stack bounded whatever the text says.
namespace mcp {

/// How deep arrays and objects may be nested. Tool arguments are three deep.
inline constexpr std::size_t kMaxJsonDepth = 128;

/// How many values (members of objects included) one text may hold. A value costs up to about 100
/// bytes of memory and may cost as little as two bytes of text, so that the length of the text
/// alone bounds nothing.
inline constexpr std::size_t kMaxJsonValues = 262'144;

// NOLINTNEXTLINE(bugprone-exception-escape): clang-tidy 14 doubts the noexcept of nlohmann/json
struct JsonText {
  enum class Problem {
    kNone,
    kSyntax,         ///< not JSON, or not UTF-8; `value` is null
    kTooDeep,        ///< see kMaxJsonDepth
    kTooManyValues,  ///< see kMaxJsonValues
    kHalfPair,       ///< half of a surrogate pair is escaped somewhere, alone
  };

  Problem problem = Problem::kNone;

  /// What is wrong and at which byte. Never repeats the text, which may be long and hostile.
  std::string explanation;

  /// With kTooDeep and kTooManyValues the value is incomplete, with kHalfPair it has U+FFFD for
  /// each half, but what an object at the top says under "id" is still there, so that the error can
  /// be answered to the right request.
  nlohmann::json value;
};

/// Of two members with the same name the last one counts, as in every common parser. Numbers
/// beyond the range of a double, NUL bytes and bytes that are not UTF-8 are syntax errors. The
/// escape of an unpaired surrogate is none: JavaScript writes it where it has cut a text between
/// the halves of a character.
[[nodiscard]] JsonText ParseJson(std::string_view text);

/// True for every whole number, whatever its size. One that does not fit into 64 bits is kept as
/// its digits, in a json value of type `binary`, which JSON text itself cannot produce.
[[nodiscard]] bool IsWholeNumber(const nlohmann::json& value);

/// All digits of a whole number.
[[nodiscard]] std::string WholeNumberText(const nlohmann::json& value);

}  // namespace mcp
