#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "configure/settings.h"

/// JSON as agents read it: with comments and trailing commas. Every function
/// throws support::CallError if `text` is not that, is not UTF-8 or is nested more than 100 deep.
/// Strings are not checked for unknown escapes.
namespace configure {

Json ParseJson(std::string_view text);

// Edits leave every other byte as it is, and throw support::CallError if a name on `path` occurs
// twice.

/// Replaces the value at `path`, or adds it to its container, which must exist: after the others,
/// on a line of its own if the last one starts its line or there is none, else on the same line. A
/// list gets another element, whatever the last name is.
std::string SetAt(std::string_view text, const KeyPath& path, const Json& value);

/// The value must exist. Numbers name the elements of lists.
std::string EraseAt(std::string_view text, const KeyPath& path);

/// Whether there is a comment in the empty container at `path`.
bool HasComment(std::string_view text, const KeyPath& path);

/// ":2:18", the line and column of the value at `path`.
std::string PlaceOf(std::string_view text, const KeyPath& path);

}  // namespace configure
