#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// JSON as agents read it: with comments, trailing commas and a byte order mark. An edit leaves
/// every other byte as it is. It returns the new text, to which nodes of the old one do not fit.
namespace configure {

/// Objects keep the order of their members.
using Json = nlohmann::ordered_json;

/// The names of nested keys, outermost first.
using KeyPath = std::vector<std::string>;

/// "mcpServers.lima", for people.
std::string Dotted(const KeyPath& path);

struct JsonItem;

/// A value and its place in the text.
struct JsonNode {
  enum class Kind { kObject, kArray, kScalar };

  Kind kind = Kind::kScalar;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<JsonItem> items;  ///< of an object or an array
};

/// A member of an object or an element of an array.
struct JsonItem {
  std::string key;        ///< empty in an array
  std::size_t begin = 0;  ///< of the key, or of the element
  JsonNode value;
  std::optional<std::size_t> comma;  ///< the place of the comma after it
};

/// Throws SettingsError if `text` is not JSON, is not UTF-8 or is nested more than 100 deep.
/// Strings are not checked for unknown escapes.
JsonNode ParseJson(std::string_view text);

std::string Raw(std::string_view text, const JsonNode& node);
Json ValueOf(std::string_view text, const JsonNode& node);

/// How far a path exists.
struct Found {
  struct Step {
    const JsonNode* container;
    std::size_t index;  ///< of the item that the path follows
  };
  std::vector<Step> steps;
  const JsonNode* last;  ///< the deepest node that exists
};

/// Throws SettingsError if a name of the path occurs twice in its object.
Found Find(std::string_view text, const JsonNode& root, const KeyPath& path);

/// Adds an item after the last one of a container: on a line of its own if the container spans
/// several lines or is empty, else on the same line. `key` is ignored for an array.
std::string InsertItem(std::string_view text, const JsonNode& root, const JsonNode& container,
                       const std::string& key, const Json& value);

/// Undoes InsertItem, if the container was not empty before. Comments around the item stay.
std::string EraseItem(std::string_view text, const JsonNode& container, std::size_t index);

std::string ReplaceNode(std::string_view text, const JsonNode& root, const JsonNode& node,
                        const Json& value);
std::string ReplaceNode(std::string_view text, const JsonNode& node, std::string_view raw);

}  // namespace configure
