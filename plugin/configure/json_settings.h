#pragma once

#include <string>
#include <vector>

#include "configure/settings.h"

/// Changes of a JSON text, and how to undo them. Each throws SettingsError if the text is not a
/// JSON object, or if a value on the path of a change is not an object.
namespace configure {

/// Fills the record's `before` and `written`; its `is_new` is set already.
std::string ApplyToJson(std::string text, const std::vector<Change>& changes, Record& record);

std::string UndoInJson(std::string text, const Record& record);

bool JsonHasEntry(const std::string& text, const std::vector<Change>& changes);

/// Whether the text has this value. The order of members does not count, since agents change it.
bool JsonHasValue(const std::string& text, const Json& value);

}  // namespace configure
