#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "configure/change.h"

/// The changes of Change, on a text of JSON. Pure; each throws SettingsError where the text is no
/// JSON, or holds something else at a path than what the change needs, or a name on it twice.
/// `text` must hold an object.
namespace configure {

/// `configured_before`: the user's part of lists and settings has been told from ours already, so
/// that only what is missing is added.
std::string ApplyToJson(std::string text, const std::vector<Change>& changes,
                        bool configured_before);

/// The text without the changes, and without the objects and lists that were made for them and are
/// empty now.
std::string RemoveFromJson(std::string text, const std::vector<Change>& changes);

/// Whether an entry of `changes` is there.
bool JsonHasEntry(const std::string& text, const std::vector<Change>& changes);

/// The changes as a text of their own, without a line end behind it.
std::string NewJson(const std::vector<Change>& changes);

/// Where the object begins, if it was made by NewJson rather than for it.
std::optional<std::size_t> BeginOfNewJson(const std::string& text);

/// Whether nothing but an empty object is left, without comments.
bool IsEmptyJson(const std::string& text);

}  // namespace configure
