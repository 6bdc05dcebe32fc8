#include "configure/settings.h"

#include "configure/json_print.h"
#include "configure/json_settings.h"
#include "configure/settings_error.h"
#include "configure/text_form.h"
#include "configure/toml_settings.h"

namespace configure {
namespace {

bool IsBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n", ByteOrderMarkSize(text)) == std::string::npos;
}

std::string OurText(const SettingsFile& file) {
  return file.changes.front().value.get<std::string>();
}

}  // namespace

std::string Dotted(const KeyPath& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

std::string Configured(const SettingsFile& file, const std::optional<std::string>& before,
                       bool configured_before) {
  switch (file.format) {
    case Format::kToml:
      return ApplyToToml(before.value_or(""), file.changes, configured_before);
    case Format::kText:
      if (before && !IsBlank(*before) && *before != OurText(file)) {
        throw SettingsError({}, "this file is not the one that configure writes; move it away");
      }
      return OurText(file);
    case Format::kJson:
      break;
  }
  // An empty file is what agents take for no settings.
  const bool empty = !before || IsBlank(*before);
  const std::string text = ApplyToJson(empty ? "{}\n" : *before, file.changes, configured_before);
  return empty && text == "{}\n" ? before.value_or("") : text;
}

std::optional<std::string> Unconfigured(const SettingsFile& file, const std::string& before) {
  if (file.format == Format::kText) {
    return before == OurText(file) ? std::nullopt : std::make_optional(before);
  }
  if (IsBlank(before)) return before;
  if (file.format == Format::kToml) {
    const std::string text = RemoveFromToml(before, file.changes);
    return IsBlank(text) ? std::nullopt : std::make_optional(text);
  }
  const std::string text = RemoveFromJson(before, file.changes);
  return text != before && IsEmptyJson(text) ? std::nullopt : std::make_optional(text);
}

bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text) {
  if (!text || IsBlank(*text)) return false;
  if (file.format == Format::kToml) return TomlHasEntry(*text, file.changes);
  return file.format == Format::kJson && JsonHasEntry(*text, file.changes);
}

}  // namespace configure
