#include "configure/settings.h"

#include "configure/json_settings.h"
#include "configure/json_text.h"
#include "configure/toml_settings.h"

namespace configure {
namespace {

bool IsBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n", ByteOrderMarkSize(text)) == std::string::npos;
}

}  // namespace

std::string Dotted(const KeyPath& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

Edited Configure(const SettingsFile& file, const std::optional<std::string>& before) {
  Edited edited;
  Record& record = edited.record;
  record.is_new = !before || IsBlank(*before);
  if (record.is_new) record.blank = before;
  switch (file.format) {
    case Format::kJson:
      edited.text = ApplyToJson(record.is_new ? "{\n}\n" : *before, file.changes, record);
      break;
    case Format::kToml:
      edited.text = ApplyToToml(record.is_new ? "" : *before, file.changes);
      break;
    case Format::kText:
      if (!record.is_new && *before != file.text) {
        throw SettingsError("this file is not the one that configure writes; move it away");
      }
      edited.text = file.text;
      record.written = file.text;
      break;
  }
  return edited;
}

std::optional<std::string> Restore(const SettingsFile& file, const std::string& now,
                                   const Record& record) {
  if (file.format == Format::kText) {
    return Json(now) == record.written ? record.blank : std::make_optional(now);
  }
  if (IsBlank(now)) return now;
  const bool is_json = file.format == Format::kJson;
  std::string text = is_json ? UndoInJson(now, record) : RemoveFromToml(now, file.changes);
  const bool is_as_new = is_json ? JsonHasValue(text, record.before) : IsBlank(text);
  return record.is_new && is_as_new ? record.blank : text;
}

bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text) {
  if (!text || IsBlank(*text)) return false;
  if (file.format == Format::kToml) return TomlHasEntry(*text, file.changes);
  return file.format == Format::kJson && JsonHasEntry(*text, file.changes);
}

Json ToJson(const Record& record) {
  return {{"is_new", record.is_new},
          {"blank", record.blank ? Json(*record.blank) : Json()},
          {"before", record.before},
          {"written", record.written}};
}

Record ToRecord(const Json& json) {
  Record record{
      .is_new = json.at("is_new"), .before = json.at("before"), .written = json.at("written")};
  if (json.at("blank").is_string()) record.blank = json.at("blank");
  return record;
}

}  // namespace configure
