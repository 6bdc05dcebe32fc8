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

/// `text` as a file of its own where there was one that held nothing but blanks: these stay behind
/// it, as it may have to be first, and a line break before them tells that there was one.
std::string BeforeBlanks(const std::string& text, const std::optional<std::string>& blanks) {
  return blanks ? text + "\n" + *blanks : text;
}

bool IsBeforeBlanks(const std::string& whole, const std::string& text) {
  return whole == text ||
         (whole.starts_with(text + "\n") && IsBlank(whole.substr(text.size() + 1)));
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

std::string Configured(const SettingsFile& file, const std::optional<std::string>& before,
                       bool configured_before) {
  const bool empty = !before || IsBlank(*before);
  switch (file.format) {
    case Format::kToml:
      if (!empty) return ApplyToToml(*before, file.changes, configured_before);
      return WholeText(before, ApplyToToml("", file.changes, configured_before));
    case Format::kText:
      if (empty) return BeforeBlanks(OurText(file), before);
      if (!IsBeforeBlanks(*before, OurText(file))) {
        throw SettingsError({}, "this file is not the one that configure writes; move it away");
      }
      return *before;
    case Format::kJson:
      break;
  }
  return empty ? WholeText(before, NewJson(file.changes) + "\n")
               : ApplyToJson(*before, file.changes, configured_before);
}

std::optional<std::string> Unconfigured(const SettingsFile& file, const std::string& before) {
  if (file.format == Format::kText) {
    const std::string ours = OurText(file);
    if (!IsBeforeBlanks(before, ours)) return before;
    return before == ours ? std::nullopt : std::make_optional(before.substr(ours.size() + 1));
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
