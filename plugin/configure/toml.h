#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configure/settings.h"

/// TOML, which is written for people and for command lines, never edited.
namespace configure {

/// A value on one line. There is no null.
std::string TomlValue(const Json& value);

/// The lines of settings. Those of one table must follow each other, those without a table first.
std::string TomlText(const std::vector<Change>& settings);

/// Whether a line begins the table of our server, or a table in it.
bool TomlHasServer(std::string_view text);

}  // namespace configure
