#pragma once

#include <string>
#include <vector>

#include "configure/settings.h"

/// Changes of a TOML text: settings and entries, in blocks between two marked comments. A line of
/// the user's that a setting replaces becomes a comment in a block of its own. A missing last line
/// end is added. Lists and defaults are not supported. Each throws SettingsError.
namespace configure {

/// `text` has no blocks yet. Throws if the text is not TOML, or would not be TOML with the blocks.
std::string ApplyToToml(const std::string& text, const std::vector<Change>& changes);

/// Puts the replaced lines in the place of the blocks. A table that is not one of `changes`, which
/// another program has put into a block, stays.
std::string RemoveFromToml(const std::string& text, const std::vector<Change>& changes);

bool TomlHasEntry(const std::string& text, const std::vector<Change>& changes);

/// A value of TOML on one line. There is no null.
std::string TomlValue(const Json& value);

}  // namespace configure
