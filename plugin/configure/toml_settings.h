#pragma once

#include <string>
#include <vector>

#include "configure/change.h"

/// The changes of Change, on a text of TOML: entries are tables with a header of their own, lists
/// and defaults are not needed and not supported. Pure; each throws SettingsError where the text is
/// no TOML, or writes what must change in a form that this does not change, such as an inline
/// table.
namespace configure {

std::string ApplyToToml(std::string text, const std::vector<Change>& changes,
                        bool configured_before);

/// The text without the changes, and without the tables that were made for them and are empty now.
std::string RemoveFromToml(std::string text, const std::vector<Change>& changes);

/// Whether an entry of `changes` is there.
bool TomlHasEntry(const std::string& text, const std::vector<Change>& changes);

}  // namespace configure
