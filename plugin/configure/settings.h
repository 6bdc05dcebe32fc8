// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.h"

/// Edits of a settings file's text for `limactl mcp configure`, without touching the disk. A text
/// that cannot be read or edited throws support::CommandError, whose text follows the file's name:
/// ":2:18: reason" with line and column, counted from 1, or ": reason".
namespace configure {

/// The server's name in every agent's settings. Gemini CLI allows no '_' in it.
inline constexpr const char* kServerName = "lima";

/// Objects keep the order of their members.
using Json = nlohmann::ordered_json;

/// The names of nested keys.
using JsonPath = Json::json_pointer;

enum class Format { kJson, kToml, kText };

struct SettingsFile {
  std::string path;                 ///< relative to the project, or absolute
  std::string alternative = {};     ///< another name that the agent reads; used if only it exists
  bool alternative_counts = false;  ///< the agent reads only that one if both exist
  Format format = Format::kJson;
  std::string text = {};  ///< for kText: the whole file. A kToml file is not edited.
  /// For kJson: the values of the file. Lists have these elements, other values are these. An
  /// object named "lima" is our entry: it has these members, with any values.
  Json wanted = Json::object();
  Json trusted = Json::object();    ///< further values with `--trust`
  Json untrusted = Json::object();  ///< the same, without
  Json initial = Json::object();    ///< values that a new file needs, with any values
  /// A list that otherwise has only tools of MCP servers, "mcp_...".
  JsonPath allowed = JsonPath();
  JsonPath last = JsonPath();  ///< an object whose last members are ours, in our order
};

struct Edited {
  std::optional<std::string> text;  ///< empty: no file
  /// After Add: the values that the user must change first, with their places. After Remove: the
  /// removed values, one a line.
  std::vector<std::string> lines = {};
  bool in_copy = false;      ///< after Add: an entry that was there serves a copy
  bool had_entry = false;    ///< after Remove
  bool was_trusted = false;  ///< after Remove: some of it is there only with `--trust`
};

/// Adds the missing values to `before`, which is empty if there is no file. Everything else stays,
/// except the command of our entry if it has no options of the user's, and the values for the other
/// choice of `--trust`.
Edited Add(const SettingsFile& file, const std::optional<std::string>& before, bool trusted);

/// Removes our entry and all values that equal ours. A file without other values is to be removed,
/// unless it has a comment.
Edited Remove(const SettingsFile& file, const std::optional<std::string>& before);

/// Whether the text has anything that Remove would remove, or the server.
bool HasOurs(const SettingsFile& file, const std::optional<std::string>& text);

}  // namespace configure
