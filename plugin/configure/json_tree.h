#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace configure {

/// Values keep the order of their members.
using Json = nlohmann::ordered_json;

struct JsonItem;

/// A value and where it stands in its text.
struct JsonNode {
  enum class Kind { kObject, kArray, kScalar };

  Kind kind = Kind::kScalar;
  std::size_t begin = 0;
  std::size_t end = 0;          ///< behind its last byte
  std::vector<JsonItem> items;  ///< of an object or an array, in their order
};

/// A member of an object or an element of an array.
struct JsonItem {
  std::string key;        ///< decoded; empty in an array
  std::size_t begin = 0;  ///< of the key, or of the element
  JsonNode value;
  std::optional<std::size_t> comma;  ///< where the comma behind it stands
};

/// Deeper nesting is refused.
inline constexpr std::size_t kMaximumJsonDepth = 100;

/// Reads JSON as the agents do, with comments (`//` and `/* */`), commas behind the last item and a
/// byte order mark, which plain JSON lacks. Throws SettingsError.
JsonNode ParseJson(std::string_view text);

/// The value of a node of `text`, without comments.
Json ValueOf(std::string_view text, const JsonNode& node);

/// The member that counts, which is the last one of its name; null when there is none.
const JsonItem* FindMember(const JsonNode& object, std::string_view key);

/// The end of the white space and comments at `from`, not beyond `to`. A comment must be closed.
std::size_t SkipBlanks(std::string_view text, std::size_t from, std::size_t to);

}  // namespace configure
