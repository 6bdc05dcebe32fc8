#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configure/settings.h"

/// Changes of a TOML text: settings of one or two names, and entries, in blocks between two marked
/// comments. A block begins with the lines that it replaces, as comments. Lists and defaults are
/// not supported. Each throws SettingsError.
namespace configure {

/// `text` without blocks becomes text with blocks. Throws also if a key that must change is not on
/// a line of its own, or if the result would not be TOML.
std::string ApplyToToml(const std::string& text, const std::vector<Change>& changes);

/// Puts the replaced lines in the place of the blocks. A table that is not one of `changes`, which
/// another program has put into a block, stays.
std::string RemoveFromToml(const std::string& text, const std::vector<Change>& changes);

bool TomlHasEntry(const std::string& text, const std::vector<Change>& changes);

/// A basic string of TOML.
std::string TomlString(std::string_view text);

}  // namespace configure
