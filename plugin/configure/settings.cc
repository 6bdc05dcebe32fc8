#include "configure/settings.h"

#include "configure/json_settings.h"
#include "configure/settings_error.h"
#include "configure/toml_settings.h"

namespace configure {
namespace {

constexpr int kRecordVersion = 1;

bool IsBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n", ByteOrderMarkSize(text)) == std::string::npos;
}

bool HoldsNothing(const SettingsFile& file, const std::string& text) {
  return file.format == Format::kJson ? IsEmptyJson(text) : IsBlank(text);
}

}  // namespace

Edited Configure(const SettingsFile& file, const std::optional<std::string>& before) {
  Edited edited;
  Record& record = edited.record;
  record.is_new = !before || IsBlank(*before);
  if (record.is_new) record.before = before;
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
      record.is_new = true;
      record.text = edited.text = file.text;
      break;
  }
  return edited;
}

std::optional<std::string> Restore(const SettingsFile& file, const std::string& now,
                                   const Record& record) {
  if (file.format == Format::kText) {
    return now == record.text ? record.before : std::make_optional(now);
  }
  if (IsBlank(now)) return now;
  std::string text =
      file.format == Format::kToml ? RemoveFromToml(now, file.changes) : UndoInJson(now, record);
  if (record.is_new && text != now && HoldsNothing(file, text)) return record.before;
  return text;
}

bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text) {
  if (!text || IsBlank(*text)) return false;
  if (file.format == Format::kToml) return TomlHasEntry(*text, file.changes);
  return file.format == Format::kJson && JsonHasEntry(*text, file.changes);
}

Json ToJson(const Record& record) {
  Json steps = Json::array();
  for (const UndoStep& step : record.steps) {
    steps.push_back({{"kind", step.change.kind},
                     {"path", step.change.path},
                     {"value", step.change.value},
                     {"before", step.before},
                     {"container", step.container},
                     {"depth", step.depth}});
  }
  return {{"version", kRecordVersion},
          {"is_new", record.is_new},
          {"before", record.before ? Json(*record.before) : Json()},
          {"text", record.text},
          {"steps", std::move(steps)}};
}

Record ToRecord(const Json& json) {
  Record record{.is_new = json.at("is_new"), .text = json.at("text")};
  if (json.at("before").is_string()) record.before = json.at("before");
  for (const Json& step : json.at("steps")) {
    record.steps.push_back(
        {.change = {.kind = step.at("kind"), .path = step.at("path"), .value = step.at("value")},
         .before = step.at("before"),
         .container = step.at("container"),
         .depth = step.at("depth")});
  }
  return record;
}

}  // namespace configure
