#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configure/agents.h"
#include "configure/stored_settings.h"
#include "support/errors.h"

/// Changes of an agent's settings files on the disk, and the records by which they are undone:
/// one JSON file in the state directory for each settings file.
namespace configure {

struct Job {
  const Agent* agent = nullptr;
  Request request;
  std::filesystem::path base;   ///< of relative paths: the project, or the home
  std::filesystem::path state;  ///< see StateDirectory
  bool remove = false;
};

/// A settings file, and what becomes of it.
struct Edit {
  SettingsFile file;
  bool is_users;              ///< in the user's own settings, not in the project
  std::filesystem::path top;  ///< directories below it that become empty are removed
  StoredSettings stored;
  StoredSettings stored_record;
  std::optional<Record> record = {};            ///< the one that is stored
  std::optional<std::string> text = {};         ///< the new text; empty: no file
  std::optional<std::string> record_text = {};  ///< that of the new record; empty: no record

  [[nodiscard]] bool changes() const { return text != stored.text(); }
};

/// A settings file cannot be edited. `snippet` is what the user can add to it by hand; it may be
/// empty.
class EditError : public support::CallError {
 public:
  EditError(const std::string& text, std::string snippet)
      : CallError(text), snippet_(std::move(snippet)) {}

  [[nodiscard]] const std::string& snippet() const { return snippet_; }

 private:
  std::string snippet_;
};

/// Reads the files and computes all new texts. Writes nothing, so that a file that cannot be edited
/// leaves the others alone. In the order to write them. Throws EditError and support::CallError.
std::vector<Edit> PlanEdits(const Job& job);

/// Prepares all files, then puts them in place one by one. Throws support::CallError.
void WriteEdits(std::vector<Edit>& edits);

}  // namespace configure
