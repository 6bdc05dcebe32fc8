#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configure/settings.h"

/// JSON as agents read it: with comments, trailing commas and a byte order mark. An edit leaves
/// every other byte as it is. It returns the new text; nodes of the old text are invalid then.
namespace configure {

/// Bytes of the UTF-8 byte order mark at the start of `text`: 3 or 0. Some editors write one.
std::size_t ByteOrderMarkSize(std::string_view text);

/// Throws SettingsError for byte `offset` of `text`.
[[noreturn]] void FailAt(std::string_view text, std::size_t offset, const std::string& reason);

/// A value and its position in the text.
struct JsonNode {
  std::string key = {};   ///< of a member of an object
  std::size_t start = 0;  ///< of the key, else `begin`
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<std::size_t> comma = {};  ///< the position of the comma after it
  char bracket = '\0';                    ///< '{' or '[' of a container
  std::vector<JsonNode> items = {};       ///< of a container
};

/// Throws SettingsError if `text` is not JSON, is not UTF-8 or is nested more than 100 deep.
/// Strings are not checked for unknown escapes.
JsonNode ParseJson(std::string_view text);

Json ValueOf(std::string_view text, const JsonNode& node);

/// How far a path exists.
struct Found {
  const JsonNode* node;       ///< the deepest node that exists
  const JsonNode* container;  ///< that holds it; null for the root
  std::size_t depth;          ///< how many names of the path exist
};

/// Throws SettingsError if a name of the path occurs twice in its object.
Found Find(std::string_view text, const JsonNode& root, const KeyPath& path);

/// Adds an item after the last one: on a line of its own if that one starts its line or there is
/// none, else on the same line. An array ignores `key`.
std::string InsertItem(std::string_view text, const JsonNode& container, const std::string& key,
                       const Json& value);

/// Undoes InsertItem, but for the space in a container that was empty. Comments stay.
std::string EraseItem(std::string_view text, const JsonNode& container, const JsonNode& item);

std::string ReplaceValue(std::string_view text, const JsonNode& node, const Json& value);

}  // namespace configure
