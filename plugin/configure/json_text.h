#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "configure/settings.h"

/// JSON as agents read it: with comments and trailing commas. Every function
/// throws SettingsError if `text` is not that, is not UTF-8 or is nested more than 100 deep.
/// Strings are not checked for unknown escapes.
namespace configure {

Json ParseJson(std::string_view text);

/// Adds, removes and replaces what differs until the value is `wanted`; leaves every other byte.
/// New items come after the others: on lines of their own if the last one starts its line or there
/// is none, else on the same line. Throws SettingsError if a name occurs twice where something
/// differs.
std::string EditJson(std::string text, const Json& wanted);

/// Whether there is a comment in the empty container at `path`.
bool HasComment(std::string_view text, const KeyPath& path);

/// Throws SettingsError for the value at `path`, where numbers name the elements of lists.
[[noreturn]] void FailAt(std::string_view text, const KeyPath& path, const std::string& reason);

}  // namespace configure
