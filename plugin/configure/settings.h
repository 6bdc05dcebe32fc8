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
inline constexpr const char* kServerName = "lima";

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
    kEntry,         ///< `path` has the members of `value`, or other values for them
    kSetting,       ///< `path` has `value`
    kRules,         ///< the object at `path` ends with the members of `value`, in their order
    kDefault,       ///< `path` has `value` unless it exists
    kList,          ///< the list at `path` has the elements of `value`
    kAllowedTools,  ///< the same, and otherwise only tools of MCP servers, "mcp_..."
  };

  Kind kind = Kind::kEntry;
  KeyPath path;
  Json value;
  std::string_view reason = {};    ///< for the user, if another value is there
  std::optional<bool> trust = {};  ///< only with this answer to `--trust`; empty: with both

  [[nodiscard]] bool Applies(bool trusted) const { return trust.value_or(trusted) == trusted; }
};

enum class Format { kJson, kToml, kText };

struct SettingsFile {
  std::string path;              ///< relative to the project, or absolute
  std::string alternative = {};  ///< another name that the agent reads; used if only it exists
  Format format = Format::kJson;
  std::vector<Change> changes = {};  ///< of Format::kJson
  std::string text = {};  ///< of kText: the whole file; of kToml, which is not edited: our lines
};

struct Edited {
  std::optional<std::string> text;  ///< empty: no file
  /// Of Add: what the user must change first, as the `what()` of a SettingsError. Of Remove: what
  /// it took away, each with its value on one line.
  std::vector<std::string> lines = {};
  bool was_trusted = false;  ///< of Remove: some of it is there only with `--trust`
};

/// Adds what is missing to `before`, which is empty if there is no file. What is there stays, but
/// for the order of our rules, and the command of our entry if it has no options of the user's.
/// Throws SettingsError.
Edited Add(const SettingsFile& file, const std::optional<std::string>& before, bool trusted);

/// Takes away our entry, unless `keeps_entry`, and all values that equal ours. A file without other
/// values is to be removed, unless it has a comment. Throws SettingsError.
Edited Remove(const SettingsFile& file, const std::optional<std::string>& before,
              bool keeps_entry = false);

/// Whether the text holds the server's entry. Throws SettingsError.
bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text);

/// Whether the text holds anything that Remove would take away, or the server. Throws
/// SettingsError.
bool HasOurs(const SettingsFile& file, const std::optional<std::string>& text);

}  // namespace configure
