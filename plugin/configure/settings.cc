#include "configure/settings.h"

#include "configure/json_settings.h"
#include "configure/settings_error.h"
#include "configure/text_form.h"
#include "configure/toml_settings.h"

namespace configure {
namespace {

std::size_t EndOfBlanks(const std::string& text) {
  return text.find_first_not_of(" \t\r\n", ByteOrderMarkSize(text));
}

bool IsBlank(const std::string& text) {
  return EndOfBlanks(text) == std::string::npos;
}

std::string OurText(const SettingsFile& file) {
  return file.changes.front().value.get<std::string>();
}

/// `text` in a file that held nothing but blanks, if it was there: these stay before it, and a
/// blank line behind it tells FormerBlankFile that there was one.
std::string WholeText(const std::optional<std::string>& before, const std::string& text) {
  return before ? *before + text + "\n" : text;
}

/// What is left of a file of ours whose text begins at `begin`: none if there was none before.
std::optional<std::string> FormerBlankFile(const std::string& text, std::size_t begin) {
  if (!text.ends_with("\n\n")) return std::nullopt;
  return text.substr(0, begin);
}

}  // namespace

std::string Dotted(const KeyPath& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

std::string Configured(const SettingsFile& file, const std::optional<std::string>& before,
                       bool configured_before) {
  const bool empty = !before || IsBlank(*before);
  switch (file.format) {
    case Format::kToml:
      if (!empty) return ApplyToToml(*before, file.changes, configured_before);
      return WholeText(before, ApplyToToml("", file.changes, configured_before));
    case Format::kText:
      if (before && !IsBlank(*before) && *before != OurText(file)) {
        throw SettingsError({}, "this file is not the one that configure writes; move it away");
      }
      return OurText(file);
    case Format::kJson:
      break;
  }
  return empty ? WholeText(before, NewJson(file.changes) + "\n")
               : ApplyToJson(*before, file.changes, configured_before);
}

std::optional<std::string> Unconfigured(const SettingsFile& file, const std::string& before) {
  if (file.format == Format::kText) {
    return before == OurText(file) ? std::nullopt : std::make_optional(before);
  }
  if (IsBlank(before)) return before;
  if (file.format == Format::kToml) {
    const std::string text = RemoveFromToml(before, file.changes);
    return IsBlank(text) ? FormerBlankFile(before, EndOfBlanks(before)) : std::make_optional(text);
  }
  const std::string text = RemoveFromJson(before, file.changes);
  if (text == before || !IsEmptyJson(text)) return text;
  const auto begin = BeginOfNewJson(before);
  return begin ? FormerBlankFile(before, *begin) : std::make_optional(text);
}

bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text) {
  if (!text || IsBlank(*text)) return false;
  if (file.format == Format::kToml) return TomlHasEntry(*text, file.changes);
  return file.format == Format::kJson && JsonHasEntry(*text, file.changes);
}

}  // namespace configure
