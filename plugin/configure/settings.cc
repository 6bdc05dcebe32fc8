// SPDX-License-Identifier: Apache-2.0
#include "configure/settings.h"

#include <algorithm>
#include <utility>

#include "configure/json_text.h"

namespace configure {
namespace {

constexpr const char* kReason = ": otherwise the agent has tools of its own, for this host";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

/// The order of members does not count, since agents change it.
bool SameValue(const Json& left, const Json& right) {
  return nlohmann::json(left) == nlohmann::json(right);
}

bool Contains(const Json& list, const Json& element) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& each) { return SameValue(each, element); });
}

bool IsEntry(const JsonPath& path, const Json& wanted) {
  return wanted.is_object() && !path.empty() && path.back() == kServerName;
}

/// "mcpServers.lima", for people.
std::string Name(const JsonPath& path) {
  if (path.empty()) return "";
  const JsonPath parent = path.parent_pointer();
  return (parent.empty() ? "" : Name(parent) + ".") + path.back();
}

/// The words of an entry after "serve": INSTANCE, options, --root DIRECTORY. Empty if it does not
/// start our server.
Json ServeWords(const Json& entry) {
  const Json words = entry.value("args", entry.value("command", Json()));
  const auto serve = std::find(words.begin(), words.end(), "serve");
  return words.is_array() && serve != words.end() ? Json(std::vector<Json>(serve + 1, words.end()))
                                                  : Json::array();
}

/// The program of an entry, alone or the first word of a command.
Json& Program(Json& entry) {
  Json& command = entry["command"];
  return command.is_array() && !command.empty() ? command[0] : command;
}

bool HasOptions(const Json& serve_words) {
  return serve_words.size() != 3 || serve_words[1] != "--root";
}

/// Adds members that are missing, with any values.
void AddMissing(Json& now, const Json& wanted) {
  for (const auto& [key, member] : wanted.items()) {
    if (!now.contains(key)) {
      now[key] = member;
    } else if (member.is_object() && now[key].is_object()) {
      AddMissing(now[key], member);
    }
  }
}

/// Adds parts of a file to its settings, and takes them away.
struct Editor {
  const SettingsFile& file;
  std::string before;
  Json settings = ParseJson(before);
  std::vector<std::string> lines = {};  ///< as Edited::lines
  bool in_copy = false;
  bool took_entry = false;

  [[nodiscard]] std::string Text() const { return Rewrite(before, settings); }

  void Refuse(const JsonPath& path, const std::string& must, const std::string& index = "") {
    const JsonPath place = index.empty() ? path : path / index;
    lines.push_back(
        support::Format("{}: \"{}\" must {}", PlaceOf(before, place), Name(path), must));
  }

  /// Adds to `now`, which is at `path`, what is missing. Refuses values of the user's that are in
  /// the way.
  void Add(const JsonPath& path, Json& now, const Json& wanted) {
    if (wanted.is_object() && !now.is_object()) {
      Refuse(path, "be an object");
    } else if (IsEntry(path, wanted)) {
      AddToEntry(path, now, wanted);
    } else if (wanted.is_object()) {
      for (const auto& [key, member] : wanted.items()) {
        if (now.contains(key)) {
          Add(path / key, now[key], member);
        } else {
          now[key] = member;
        }
      }
    } else if (wanted.is_array() && !now.is_array()) {
      Refuse(path, "be a list");
    } else if (wanted.is_array()) {
      for (const Json& element : wanted) {
        if (!Contains(now, element)) now.push_back(element);
      }
    } else if (now != wanted) {
      Refuse(path, support::Format("be {}{}", wanted.dump(), kReason));
    }
  }

  /// Keeps what the user has changed in the entry. Without options of the user's, the command is
  /// ours, but for the path of limactl.
  void AddToEntry(const JsonPath& path, Json& entry, Json wanted) {
    AddMissing(entry, wanted);
    bool is_foreign = false;
    if (wanted.contains("command")) {
      const Json& program = Program(entry);
      const std::string text = program.dump();
      if (Program(wanted) == "limactl" && text.ends_with("/limactl\"")) Program(wanted) = program;
      // configure itself writes others on another $PATH.
      is_foreign =
          program != Program(wanted) && program != "limactl" && !text.ends_with("/limactl-mcp\"");
    }
    const Json ours = ServeWords(wanted);
    const Json theirs = ServeWords(entry);
    const bool is_same_instance = !ours.empty() && !theirs.empty() && ours[0] == theirs[0];
    const bool is_kept =
        HasOptions(theirs) && (ours == theirs || (is_same_instance && !HasOptions(ours)));
    in_copy = is_kept && theirs.dump().find("\"--copy=") != std::string::npos;
    for (const std::string key : {"args", "command", "timeout"}) {
      const bool is_ours = wanted.contains(key) && (key != "timeout" || HasOptions(ours));
      const bool is_refused = is_foreign && key == "command";
      if (!is_ours || (is_kept && !is_refused) || entry.at(key) == wanted.at(key)) continue;
      if (is_refused || HasOptions(theirs)) {
        return Refuse(path / key,
                      support::Format("be {}: it starts something else, or has options of yours",
                                      wanted.at(key).dump()));
      }
      entry[key] = wanted.at(key);
    }
  }

  void RequireAllowed() {
    if (!settings.contains(file.allowed)) return;
    for (const auto& [index, element] : settings.at(file.allowed).items()) {
      if (element.dump().starts_with("\"mcp_")) continue;
      if (Contains(file.wanted.at(file.allowed), element)) continue;
      Refuse(file.allowed, support::Format("not have {}{}", element.dump(), kReason), index);
    }
  }

  /// Takes away what equals `ours` in `now`, which is at `path`, and containers that are empty
  /// then, but for those with a comment.
  void TakeAway(const JsonPath& path, Json& now, const Json& ours) {
    if (ours.is_array() && now.is_array()) {
      for (auto element = now.begin(); element != now.end();) {
        const bool stays = !Contains(ours, *element);
        if (!stays) lines.push_back(Name(path) + ": " + element->dump());
        element = stays ? element + 1 : now.erase(element);
      }
    }
    if (!ours.is_object() || !now.is_object()) return;
    for (const auto& [key, member] : ours.items()) {
      if (!now.contains(key)) continue;
      const JsonPath inner = path / key;
      Json& value = now[key];
      const bool is_entry = IsEntry(inner, member);
      bool is_ours = is_entry || (!member.is_structured() && value == member);
      if (is_ours) lines.push_back(Name(inner) + ": " + value.dump());
      took_entry |= is_entry;
      if (!is_ours) {
        TakeAway(inner, value, member);
        is_ours = value.is_structured() && value.empty() && !file.initial.contains(inner) &&
                  !HasComment(Text(), inner);
      }
      if (is_ours) now.erase(key);
    }
  }
};

}  // namespace

Edited Add(const SettingsFile& file, const std::optional<std::string>& before, bool trusted) {
  const bool is_new = !before || IsBlank(*before);
  if (file.format == Format::kText) {
    if (is_new || *before == file.text) return {file.text};
    throw support::CommandError(": this file is not the one that configure writes; move it away");
  }
  Editor editor = {file, is_new ? file.initial.dump(2) + "\n" : *before};
  if (!editor.settings.is_object()) {
    throw support::CommandError("{}: the file must be an object",
                                PlaceOf(editor.before, JsonPath()));
  }
  const bool is_trusted_anew = trusted && !Remove(file, before).was_trusted;
  if (is_trusted_anew) editor.TakeAway(JsonPath(), editor.settings, file.untrusted);
  editor.lines.clear();
  AddMissing(editor.settings, file.initial);
  if (!file.allowed.empty()) editor.RequireAllowed();
  editor.Add(JsonPath(), editor.settings, file.wanted);
  const Json& more = trusted ? file.trusted : file.untrusted;
  editor.Add(JsonPath(), editor.settings, more);
  if (!file.last.empty() && editor.lines.empty()) {
    Json ours = file.wanted.at(file.last);
    ours.update(more.at(file.last));
    Json& object = editor.settings.at(file.last);
    for (const auto& [key, member] : ours.items()) {
      object.erase(key);
      object[key] = member;
    }
  }
  return {.text = editor.Text(), .lines = editor.lines, .in_copy = editor.in_copy};
}

Edited Remove(const SettingsFile& file, const std::optional<std::string>& before) {
  if (!before || IsBlank(*before)) return {before};
  if (file.format == Format::kText) {
    return *before == file.text ? Edited{std::nullopt} : Edited{before};
  }
  Editor editor = {file, *before};
  editor.TakeAway(JsonPath(), editor.settings, file.trusted);
  const bool was_trusted = !editor.lines.empty();
  editor.TakeAway(JsonPath(), editor.settings, file.untrusted);
  editor.TakeAway(JsonPath(), editor.settings, file.wanted);
  Edited edited = {.text = before,
                   .lines = editor.lines,
                   .had_entry = editor.took_entry,
                   .was_trusted = was_trusted};
  if (edited.lines.empty()) return edited;
  edited.text = editor.Text();
  const bool is_empty = editor.settings.empty() || SameValue(editor.settings, file.initial);
  if (is_empty && edited.text->find('/') == std::string::npos) edited.text.reset();
  return edited;
}

bool HasOurs(const SettingsFile& file, const std::optional<std::string>& text) {
  if (file.format != Format::kToml) return Remove(file, text).text != text;
  const std::string table = std::string("\n[mcp_servers.") + kServerName;
  const std::string lines = "\n" + text.value_or("");
  return lines.find(table + "]") != lines.npos || lines.find(table + ".") != lines.npos;
}

}  // namespace configure
