#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.h"

/// What `limactl mcp configure` does to the text of a settings file. No disk is touched here.
namespace configure {

/// The server's name in every agent's settings. Gemini CLI allows no '_' in it.
inline constexpr std::string_view kServerName = "lima";

/// Objects keep the order of their members.
using Json = nlohmann::ordered_json;

/// The names of nested keys, outermost first.
using KeyPath = std::vector<std::string>;

/// "mcpServers.lima", for people.
std::string Dotted(const KeyPath& path);

/// A settings file cannot be read or edited. `what()` follows the file's name: ":2:18: reason" with
/// line and column, counted from 1, or ": reason".
class SettingsError : public support::CallError {
 public:
  explicit SettingsError(const std::string& reason) : CallError(": " + reason) {}
  SettingsError(std::size_t line, std::size_t column, const std::string& reason)
      : CallError(":" + std::to_string(line) + ":" + std::to_string(column) + ": " + reason) {}
};

/// One thing that an agent's settings must hold.
struct Change {
  enum class Kind {
    kEntry,    ///< `path` has `value`; an entry of that name counts as ours
    kSetting,  ///< `path` has `value`
    kLast,     ///< `path` has `value`, after its siblings; refused if it exists
    kDefault,  ///< `path` has `value` unless it exists
    kList,     ///< the list at `path` has the elements of `value`
  };

  Kind kind = Kind::kEntry;
  KeyPath path;
  Json value;
};

enum class Format { kJson, kToml, kText };

struct SettingsFile {
  std::string path;  ///< relative to the project, or absolute
  /// Other names that the agent reads. If one of them exists, it is used instead of `path`.
  std::vector<std::string> alternatives = {};
  Format format = Format::kJson;
  std::vector<Change> changes = {};
  std::string text = {};  ///< of Format::kText: the whole file
};

/// What was in a settings file before it was configured.
struct Record {
  bool is_new = false;                    ///< the file was missing or blank
  std::optional<std::string> blank = {};  ///< its text in that case; empty if it was missing
  /// Format::kJson: the members that differ, with their values before and after; of a new file all
  /// members. Format::kText: `written` is the file.
  Json before = {};
  Json written = {};
};

struct Edited {
  std::string text;
  Record record;
};

/// Makes the changes of `file` in the text `before`, which is empty if there is no file. Throws
/// SettingsError if the file cannot be edited.
Edited Configure(const SettingsFile& file, const std::optional<std::string>& before);

/// Undoes Configure, also in a file that was edited since: what the user has changed stays. The
/// result is empty if the file is to be removed. Throws SettingsError.
std::optional<std::string> Restore(const SettingsFile& file, const std::string& now,
                                   const Record& record);

/// Whether the text holds the entry of `file`. Throws SettingsError.
bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text);

Json ToJson(const Record& record);

/// Throws nlohmann::json::exception if it is not a record.
Record ToRecord(const Json& json);

}  // namespace configure
