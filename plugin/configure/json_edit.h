#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configure/json_print.h"
#include "configure/json_tree.h"

/// Changes of a text of JSON that leave every other byte alone: comments, order, indentation, line
/// ends, commas. Each takes a text with a node of it and returns the new text, to which nodes of
/// the old one no longer fit.
namespace configure {

/// What `text` indents with, and how its lines end.
JsonLayout LayoutOf(std::string_view text, const JsonNode& root);

/// What is added to an object (with keys) or an array (keys are passed over).
struct NewItem {
  std::string key;
  Json value;
};

/// Adds items behind the last one: on lines of their own where the container's are, else on its
/// line. A comma behind the last item stays customary where it was. A container that was there
/// empty keeps its blanks before the first item, so that it can be told from one that was made for
/// the items, which PrintJson never writes so: `{}` becomes `{ "key": 1 }`, not `{"key": 1}`, and
/// over several lines there is a blank one.
std::string InsertItems(std::string_view text, const JsonLayout& layout, const JsonNode& container,
                        const std::vector<NewItem>& items);

/// What stood between the brackets of a container, which is not empty now, before its first item
/// was added to it; none where it was made for that item.
std::optional<std::string> FormerBlanks(std::string_view text, const JsonNode& container);

/// Takes an item away, with its line and what is commented behind it there. Adding an item and
/// taking it away gives the old text again.
std::string EraseItem(std::string_view text, const JsonNode& container, std::size_t index);

/// Puts another value in the place of a node.
std::string ReplaceValue(std::string_view text, const JsonLayout& layout, const JsonNode& node,
                         const Json& value);

/// The end of the comments that follow `from` on its line.
std::size_t EndOfLineComments(std::string_view text, std::size_t from);

}  // namespace configure
