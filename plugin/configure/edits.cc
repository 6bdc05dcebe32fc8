#include "configure/edits.h"

#include <algorithm>
#include <utility>

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
  return {
      .file = file,
      .is_users = is_users,
      .stored = {ChosenPath(job.base, file), is_users ? std::nullopt : std::make_optional(job.base),
                 is_users ? kUserFileMode : kProjectFileMode}};
}

Plan ReadPlan(const Job& job) {
  const std::string name = Digest(std::string(job.agent->name) + '\0' + job.base.string());
  Plan plan{.edits = {},
            .record = {job.state / "configure" / (name + ".json"), std::nullopt, kUserFileMode}};
  try {
    const Json records = Json::parse(plan.record.text().value_or("{}"));
    for (const auto& [path, record] : records.items()) plan.records[path] = ToRecord(record);
  } catch (const nlohmann::json::exception&) {
    throw support::CallError(plan.record.path().string() +
                             " is not a record of configure; delete it and run configure again");
  }
  for (const SettingsFile& file : job.agent->settings(job.request).files) {
    plan.edits.push_back(ReadEdit(job, file));
  }
  return plan;
}

/// Undoes what configure writes into a new file.
std::optional<std::string> RemoveOurs(const Job& job, const Edit& edit, std::size_t index) {
  std::optional<std::string> text = edit.stored.text();
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
auto WithFileName(const Job& job, const Edit& edit, const Work& work) {
  try {
    return work();
  } catch (const SettingsError& error) {
    const bool has_snippet = !job.remove && edit.file.format != Format::kText;
    throw EditError(edit.stored.path().string() + error.what() + "; nothing was written",
                    has_snippet ? Configure(edit.file, std::nullopt).text : "");
  }
}

}  // namespace

Plan PlanEdits(const Job& job) {
  Plan plan = ReadPlan(job);
  const bool has_records = !plan.records.empty();
  bool has_entry = false;
  for (const Edit& edit : plan.edits) {
    has_entry |= WithFileName(job, edit, [&] { return HasEntry(edit.file, edit.stored.text()); });
  }
  for (std::size_t i = 0; i < plan.edits.size(); ++i) {
    Edit& edit = plan.edits[i];
    const std::string path = edit.stored.target().string();
    WithFileName(job, edit, [&] {
      edit.text = edit.stored.text();
      if (edit.text && plan.records.contains(path)) {
        edit.text = Restore(edit.file, *edit.text, plan.records[path]);
      } else if (has_entry && !has_records) {
        // The project was moved, or the record was deleted.
        edit.text = RemoveOurs(job, edit, i);
      }
      plan.records.erase(path);
      if (job.remove) return;
      Edited edited = Configure(edit.file, edit.text);
      plan.records[path] = std::move(edited.record);
      edit.text = std::move(edited.text);
    });
  }
  // An agent gets its own tools back only after it has lost the server.
  if (job.remove) std::reverse(plan.edits.begin(), plan.edits.end());
  return plan;
}

void WriteEdits(const Job& job, const Plan& plan) {
  Json records = Json::object();
  for (const auto& [path, record] : plan.records) records[path] = ToJson(record);
  const std::string text = records.dump(2) + "\n";
  // While a file has changes, there is a record.
  if (!job.remove && text != plan.record.text()) plan.record.Write(text);
  for (const Edit& edit : plan.edits) {
    if (!edit.changes()) continue;
    if (edit.text) {
      edit.stored.Write(*edit.text);
    } else {
      edit.stored.Remove(edit.is_users ? fs::path(job.request.directories.home) : job.base);
    }
  }
  if (!job.remove || !plan.record.text()) return;
  if (records.empty()) {
    plan.record.Remove(job.state);
  } else {
    plan.record.Write(text);
  }
}

}  // namespace configure
