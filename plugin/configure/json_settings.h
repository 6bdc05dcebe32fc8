#pragma once

#include <string>
#include <vector>

#include "configure/settings.h"

/// Changes of a JSON text, and how to undo them. Each throws SettingsError if the text is not a
/// JSON object, or if the path of a change leads through another kind of value.
namespace configure {

/// Appends the steps that undo the changes to `record`, whose `is_new` is set already.
std::string ApplyToJson(std::string text, const std::vector<Change>& changes, Record& record);

std::string UndoInJson(std::string text, const Record& record);

bool JsonHasEntry(const std::string& text, const std::vector<Change>& changes);

/// Whether the text is an empty object without comments.
bool IsEmptyJson(const std::string& text);

}  // namespace configure
