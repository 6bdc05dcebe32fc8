#include "configure/edits.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "configure/settings_error.h"

namespace configure {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kProjectFileMode = 0644;
constexpr unsigned kUserFileMode = 0600;

fs::path ChosenPath(const fs::path& base, const SettingsFile& file) {
  fs::path path = base / file.path;
  std::error_code unknown;  // StoredSettings reports errors
  for (const std::string& alternative : file.alternatives) {
    if (!fs::exists(path, unknown) && fs::exists(base / alternative, unknown)) {
      return base / alternative;
    }
  }
  return path;
}

Edit ReadEdit(const Job& job, const SettingsFile& file) {
  const bool is_users = job.request.user || fs::path(file.path).is_absolute();
  StoredSettings stored(ChosenPath(job.base, file),
                        is_users ? std::nullopt : std::make_optional(job.base),
                        is_users ? kUserFileMode : kProjectFileMode);
  const std::string name = Digest(stored.target().string() + '\0' + file.scope) + ".json";
  Edit edit{.file = file,
            .is_users = is_users,
            .top = is_users ? fs::path(job.request.places.home) : job.base,
            .stored = std::move(stored),
            .stored_record = {job.state / "configure" / name, std::nullopt, kUserFileMode}};
  if (const auto& text = edit.stored_record.text()) {
    try {
      edit.record = ToRecord(Json::parse(*text));
    } catch (const nlohmann::json::exception&) {
      throw support::CallError(edit.stored_record.path().string() +
                               " is not a record of configure; delete it and run configure again");
    }
  }
  return edit;
}

/// The text before configure changed it. With `lacks_records`, the project was moved or the records
/// were deleted: then what configure writes is removed.
std::optional<std::string> OriginalText(const Job& job, const Edit& edit, std::size_t index,
                                        bool lacks_records) {
  std::optional<std::string> text = edit.stored.text();
  if (text && edit.record) return Restore(edit.file, *text, *edit.record);
  if (!lacks_records) return text;
  for (const bool trust : {true, false}) {
    Request request = job.request;
    request.trust = trust;
    const SettingsFile file = job.agent->settings(request).files.at(index);
    if (text) text = Restore(file, *text, Configure(file, std::nullopt).record);
  }
  return text;
}

/// Calls `work`. Turns a SettingsError into an EditError.
template <typename Work>
auto WithPlace(const Job& job, const Edit& edit, const Work& work) {
  try {
    return work();
  } catch (const SettingsError& error) {
    const bool has_snippet = !job.remove && edit.file.format != Format::kText;
    throw EditError(edit.stored.path().string() + error.what() + "; nothing was written",
                    has_snippet ? Configure(edit.file, std::nullopt).text : "");
  }
}

}  // namespace

std::vector<Edit> PlanEdits(const Job& job) {
  std::vector<Edit> edits;
  for (const SettingsFile& file : job.agent->settings(job.request).files) {
    edits.push_back(ReadEdit(job, file));
  }
  bool has_record = false;
  bool has_entry = false;
  for (const Edit& edit : edits) {
    has_record |= edit.record.has_value();
    has_entry |= WithPlace(job, edit, [&] { return HasEntry(edit.file, edit.stored.text()); });
  }
  for (std::size_t i = 0; i < edits.size(); ++i) {
    Edit& edit = edits[i];
    WithPlace(job, edit, [&] {
      edit.text = OriginalText(job, edit, i, has_entry && !has_record);
      if (job.remove) return;
      Edited edited = Configure(edit.file, edit.text);
      Json record = ToJson(edited.record);
      record["file"] = edit.stored.target().string();
      edit.text = std::move(edited.text);
      edit.record_text = record.dump(2) + "\n";
    });
  }
  // An agent gets its own tools back only after it has lost the server.
  if (job.remove) std::reverse(edits.begin(), edits.end());
  return edits;
}

void WriteEdits(std::vector<Edit>& edits) {
  for (Edit& edit : edits) {
    if (edit.changes() && edit.text) edit.stored.Prepare(*edit.text);
    const bool is_new = edit.record_text && edit.record_text != edit.stored_record.text();
    if (is_new) edit.stored_record.Prepare(*edit.record_text);
  }
  for (Edit& edit : edits) {
    // While the file has changes, there is a record.
    const bool changes_record = edit.record_text != edit.stored_record.text();
    if (changes_record && edit.record_text) edit.stored_record.Commit(edit.top);
    if (edit.changes()) edit.stored.Commit(edit.top);
    if (changes_record && !edit.record_text) edit.stored_record.Commit(edit.top);
  }
}

}  // namespace configure
