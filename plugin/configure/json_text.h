// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "configure/settings.h"

/// JSON as agents read it: with comments and trailing commas. Every function
/// throws support::CommandError if `text` is not that, is not UTF-8 or is nested more than 100
/// deep. Strings are not checked for unknown escapes.
namespace configure {

Json ParseJson(std::string_view text);

/// Changes the text as little as possible, so that it has `value`: removes members and elements,
/// adds others after the last one, on a line of their own if that starts its line or there is none.
/// Everything else keeps its order. Throws if a container that must change has a name twice.
std::string Rewrite(std::string text, const Json& value);

/// Whether there is a comment in the empty container at `path`.
bool HasComment(std::string_view text, const JsonPath& path);

/// ":2:18", the line and column of the value at `path`.
std::string PlaceOf(std::string_view text, const JsonPath& path);

}  // namespace configure
