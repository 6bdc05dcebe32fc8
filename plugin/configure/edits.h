#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configure/agents.h"
#include "configure/stored_settings.h"
#include "support/errors.h"

/// Changes of an agent's settings files on the disk, and the record by which they are undone: one
/// JSON file in the state directory for each agent and project.
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
  bool is_users;  ///< in the user's own settings, not in the project
  StoredSettings stored;
  std::optional<std::string> text = {};  ///< the new text; empty: no file

  [[nodiscard]] bool changes() const { return text != stored.text(); }
};

struct Plan {
  std::vector<Edit> edits;  ///< in the order to write them
  StoredSettings record;
  std::map<std::string, Record> records = {};  ///< the new ones, by the path of the file
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
/// leaves the others alone. Throws EditError and support::CallError.
Plan PlanEdits(const Job& job);

/// Throws support::CallError.
void WriteEdits(const Job& job, const Plan& plan);

}  // namespace configure
