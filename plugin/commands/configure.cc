#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/instance_note.h"
#include "commands/launch_command.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/settings_store.h"
#include "configure/agents.h"
#include "configure/settings_error.h"
#include "doctor/installation.h"
#include "lima/home.h"
#include "lima/instance_name.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using configure::Agent;
using configure::Request;
using support::EnvironmentVariable;

constexpr unsigned kProjectFileMode = 0644;
constexpr unsigned kUserFileMode = 0600;

struct Options {
  const Agent* agent = nullptr;  ///< null: list them
  Request request;
  fs::path base;  ///< of relative paths: the project
  bool print = false;
  bool remove = false;
};

/// A settings file, and the text that it is to have.
struct Edit {
  StoredSettings stored;
  std::optional<std::string> text;
  const configure::SettingsFile* file;
  fs::path top;  ///< directories below it that become empty are removed

  [[nodiscard]] bool changes() const { return text != stored.text(); }
};

std::string EnvironmentOr(const char* name, const std::string& fallback) {
  const std::string value = EnvironmentVariable(name);
  return value.empty() ? fallback : value;
}

configure::Places FindPlaces() {
  configure::Places places;
  places.home = EnvironmentVariable("HOME");
  if (!fs::path(places.home).is_absolute()) {
    throw UsageError("HOME must be set to your home directory");
  }
  places.config = EnvironmentOr("XDG_CONFIG_HOME", places.home + "/.config");
  places.gemini_home = EnvironmentOr("GEMINI_CLI_HOME", places.home);
  places.codex_home = EnvironmentOr("CODEX_HOME", places.home + "/.codex");
  places.claude_home = EnvironmentVariable("CLAUDE_CONFIG_DIR");
#ifdef __APPLE__
  places.vscode_user = places.home + "/Library/Application Support/Code/User";
#else
  places.vscode_user = places.config + "/Code/User";
#endif
  return places;
}

std::vector<std::string> NamesOfAgents() {
  std::vector<std::string> names;
  for (const Agent& agent : configure::Agents()) names.emplace_back(agent.name);
  return names;
}

std::vector<std::string> ToolNames() {
  std::vector<std::string> names;
  const nlohmann::json descriptions = ToolDescriptions();
  for (const nlohmann::json& tool : descriptions.at("tools")) names.push_back(tool.at("name"));
  return names;
}

/// Settings are UTF-8, and paths are written there as they are.
void RequireUtf8(const Request& request) {
  std::vector<std::string> paths = request.launch;
  if (request.lima_home) paths.push_back(*request.lima_home);
  for (const std::string& path : paths) {
    if (support::IsValidUtf8(path)) continue;
    throw UsageError(path +
                     " is not UTF-8, and an agent's settings can hold nothing else; rename it");
  }
}

/// Claude Code keeps settings under this directory, wherever in it it is started.
fs::path GitRoot(const fs::path& project) {
  std::error_code unknown;
  for (fs::path directory = project; directory != directory.root_path();
       directory = directory.parent_path()) {
    if (fs::exists(directory / ".git", unknown)) return directory;
  }
  return project;
}

Options ReadOptions(const OptionParser& parser, const cxxopts::ParseResult& parsed) {
  Options options;
  const std::vector<std::string>& positional = parser.positional();
  options.print = parsed["print"].as<bool>();
  options.remove = parsed["remove"].as<bool>();
  Request& request = options.request;
  request.user = parsed["user"].as<bool>();
  request.project_files = parsed["project"].as<bool>();
  request.trust = parsed["trust"].as<bool>();
  request.places = FindPlaces();
  if (positional.empty()) {
    if (parsed.arguments().empty()) return options;
    throw UsageError("configure: which agent? There are: " + support::Join(NamesOfAgents()));
  }
  options.agent = configure::FindAgent(positional[0]);
  if (options.agent == nullptr) {
    throw UsageError("unknown agent \"" + positional[0] +
                     "\"; there are: " + support::Join(NamesOfAgents()));
  }
  if (request.user && request.project_files) {
    throw UsageError("--user and --project exclude each other");
  }
  if (options.remove && request.trust) throw UsageError("--remove and --trust exclude each other");
  request.instance = positional.size() > 1 ? positional[1] : kDefaultInstance;
  lima::CheckInstanceName(request.instance);
  request.launch =
      LaunchCommand(doctor::OwnProgram(), EnvironmentVariable("PATH"), doctor::ParentProgram());
  // What is written must be right wherever the agent is started from.
  if (!EnvironmentVariable("LIMA_HOME").empty()) request.lima_home = lima::HomeDirectory().string();
  if (!options.remove) RequireUtf8(request);
  request.tools = ToolNames();
  options.base = request.user ? fs::path(request.places.home)
                              : FindProject(request.places.home, ", or give --user");
  request.project_key = GitRoot(options.base).string();
  return options;
}

/// A relative path of the user's own settings has come from a variable, and would mean another
/// directory to the agent.
void RequireAbsolute(const Options& options, const std::vector<configure::SettingsFile>& files) {
  if (!options.request.user) return;
  for (const configure::SettingsFile& file : files) {
    if (fs::path(file.path).is_absolute()) continue;
    throw UsageError(file.path +
                     " is a relative path: XDG_CONFIG_HOME, GEMINI_CLI_HOME, CODEX_HOME and "
                     "CLAUDE_CONFIG_DIR must be absolute ones where they are set");
  }
}

bool IsFound(const Agent& agent, const std::string& home) {
  const std::string path = EnvironmentVariable("PATH");
  const auto on_path = [&](std::string_view program) {
    return doctor::FindProgram(std::string(program), path).has_value();
  };
  const auto in_home = [&](std::string_view directory) {
    std::error_code unknown;
    return fs::is_directory(fs::path(home) / directory, unknown);
  };
  return std::any_of(agent.programs.begin(), agent.programs.end(), on_path) ||
         std::any_of(agent.directories.begin(), agent.directories.end(), in_home);
}

/// How wide the column of the agents' names is.
std::size_t NameWidth() {
  std::size_t width = 0;
  for (const Agent& agent : configure::Agents()) width = std::max(width, agent.name.size());
  return width + 2;
}

void ListAgents(const std::string& home) {
  const std::size_t width = NameWidth();
  for (const bool found : {true, false}) {
    bool first = true;
    for (const Agent& agent : configure::Agents()) {
      if (IsFound(agent, home) != found) continue;
      if (first) std::cout << (found ? "Found on this machine:\n" : "Others:\n");
      first = false;
      std::cout << "  " << agent.name << std::string(width - agent.name.size(), ' ') << agent.title
                << '\n';
    }
  }
  std::cout << "Configure one with: limactl mcp configure AGENT [INSTANCE]\n";
}

fs::path ChosenPath(const fs::path& base, const configure::SettingsFile& file) {
  fs::path path = base / file.path;
  std::error_code unknown;  // StoredSettings says what is wrong
  for (const std::string& alternative : file.alternatives) {
    if (!fs::exists(path, unknown) && fs::exists(base / alternative, unknown)) {
      return base / alternative;
    }
  }
  return path;
}

bool IsUsers(const Options& options, const configure::SettingsFile& file) {
  return options.request.user || fs::path(file.path).is_absolute();
}

Edit MakeEdit(const Options& options, const configure::SettingsFile& file) {
  const fs::path path = ChosenPath(options.base, file);
  if (IsUsers(options, file)) {
    return {{path, std::nullopt, kUserFileMode}, {}, &file, options.request.places.home};
  }
  return {{path, options.base, kProjectFileMode}, {}, &file, options.base};
}

/// What the files are to be. Nothing is written yet, so that a file that cannot be read leaves all
/// of them alone.
std::vector<Edit> PlanEdits(const Options& options,
                            const std::vector<configure::SettingsFile>& files) {
  std::vector<Edit> edits;
  edits.reserve(files.size());
  for (const configure::SettingsFile& file : files) {
    edits.push_back(MakeEdit(options, file));
  }
  const auto explain_flaws = [](const Edit& edit, const auto& work) {
    try {
      work();
    } catch (const configure::SettingsError& error) {
      throw support::CallError(
          edit.stored.path().string() + ":" + std::to_string(error.position().line) + ":" +
          std::to_string(error.position().column) + ": " + error.what() + "; nothing was written");
    }
  };
  bool before = false;
  for (const Edit& edit : edits) {
    explain_flaws(edit, [&] { before |= configure::HasEntry(*edit.file, edit.stored.text()); });
  }
  for (Edit& edit : edits) {
    explain_flaws(edit, [&] {
      const std::optional<std::string>& text = edit.stored.text();
      if (!options.remove) {
        edit.text = configure::Configured(*edit.file, text, before);
      } else if (text) {
        // Without the server, lists and settings of the same words are the user's own.
        edit.text = before ? configure::Unconfigured(*edit.file, *text) : text;
        // Somebody's link must not be left without its target.
        if (!edit.text && edit.stored.is_link()) {
          edit.text = edit.file->format == configure::Format::kJson ? "{}\n" : "";
        }
      }
    });
  }
  return edits;
}

std::string Shown(const Options& options, const Edit& edit) {
  const fs::path& path = edit.stored.path();
  return IsUsers(options, *edit.file) ? path.string()
                                      : path.lexically_relative(options.base).string();
}

void PrintChange(const configure::Change& change) {
  using Kind = configure::Change::Kind;
  const bool is_only_there = change.kind == Kind::kDefault && change.value.empty();
  if (!change.wanted || change.kind == Kind::kWholeFile || is_only_there) return;
  const bool entry = change.kind == Kind::kEntry;
  std::cout << "    " << configure::Dotted(change.path) << (entry ? "" : ": " + change.value.dump())
            << '\n';
}

/// As a terminal may be given it: a file in the project may hold what its agent has written.
std::string PrintableLines(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\n\t");
    printable += support::Printable(text.substr(0, end));
    if (end == std::string_view::npos) break;
    printable += text[end];
    text.remove_prefix(end + 1);
  }
  return printable;
}

void PrintTexts(const Options& options, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    std::cout << "==> " << Shown(options, edit)
              << (!edit.text           ? " (none)"
                  : !edit.changes()    ? " (as it is)"
                  : edit.stored.text() ? " (changed)"
                                       : " (new)")
              << '\n';
    // The rest of the user's own file is long, and may hold a login.
    if (IsUsers(options, *edit.file) && !options.request.user) {
      if (!options.remove) {
        std::cout << PrintableLines(configure::Configured(*edit.file, std::nullopt, false));
      }
      continue;
    }
    std::cout << PrintableLines(edit.text.value_or(""));
  }
}

/// In the order given, or the opposite one: the tools of an agent are off before it has others, and
/// on again only when it has none.
///
/// When one fails, it and the files before it get their old texts back: --remove would take the
/// settings of tools without a server for the user's own.
void WriteEdits(const std::vector<Edit>& edits) {
  std::vector<const Edit*> written;
  try {
    for (const Edit& edit : edits) {
      if (!edit.changes()) continue;
      written.push_back(&edit);  // before: it may fail when the file has been replaced already
      edit.stored.Replace(edit.text, edit.top);
    }
  } catch (const support::CallError& error) {
    std::string what = error.what();
    for (const Edit* edit : written) {
      try {
        edit->stored.Restore(edit->text, edit->top);
      } catch (const support::CallError& second) {
        what += "; " + std::string(second.what()) + ", so that it stays changed";
      }
    }
    throw support::CallError(what + "; the other files are as they were");
  }
}

/// As this program was found: what `limactl mcp` runs may be another one.
std::string UndoCommand(const Options& options) {
  std::vector<std::string> command = options.request.launch;
  command.back() = "configure";  // it was "serve"
  command.emplace_back(options.agent->name);
  if (options.request.user) command.emplace_back("--user");
  command.emplace_back("--remove");
  return shell::ShellCommand(command);
}

void Report(const Options& options, const std::vector<Edit>& edits) {
  const Request& request = options.request;
  std::cout << options.agent->title
            << (request.user ? ", for all your projects:\n"
                             : ", for " + options.base.string() + ":\n");
  for (const Edit& edit : edits) {
    // Its target may have been named by the guest.
    const std::string link =
        edit.stored.is_link() ? " -> " + support::Printable(edit.stored.target().string()) : "";
    const bool gone = !edit.text;
    std::cout << "  "
              << (!edit.changes() ? (gone ? "not there  " : "as it was  ")
                                  : (gone ? "removed    " : "wrote      "))
              << Shown(options, edit) << link << '\n';
    if (!options.remove) {
      for (const configure::Change& change : edit.file->changes) PrintChange(change);
    }
  }
  if (options.remove) return;
  std::cout << "Starts the server with: ";
  for (const std::string& word : request.launch) std::cout << word << ' ';
  std::cout << request.instance << " --root (the project)\n";
  for (const std::string& note : options.agent->notes(request))
    std::cout << "Note: " << note << '\n';
  if (options.agent->can_run && !request.user) {
    std::cout << "Safer: limactl mcp run " << options.agent->name << ' ' << request.instance
              << " starts " << options.agent->title
              << " with settings that a command in the guest cannot change\n";
  }
  const std::string instance =
      NoteOnInstance(request.instance,
                     request.user ? std::nullopt : std::make_optional(options.base))
          .text;
  if (!instance.empty()) std::cout << "Note: " << instance << '\n';
  std::cout << "Undo with: " << UndoCommand(options) << '\n';
}

void ConfigureAgent(const Options& options) {
  const std::vector<configure::SettingsFile> files = options.agent->files(options.request);
  RequireAbsolute(options, files);
  std::vector<Edit> edits = PlanEdits(options, files);
  if (options.remove) std::reverse(edits.begin(), edits.end());
  if (options.print) return PrintTexts(options, edits);
  WriteEdits(edits);
  Report(options, edits);
}

}  // namespace

OptionParser ConfigureParser() {
  OptionParser parser("configure",
                      "Let an agent find the server, and switch off its own file and shell tools. "
                      "Without AGENT: list the agents",
                      "[AGENT] [INSTANCE]", 2);
  parser.AddOptions()("print", "Only show what the files would be")(
      "user", "For all your projects, in your own settings, instead of for the current directory")(
      "project",
      "In files of the project only, also for agents that keep a project's settings elsewhere")(
      "trust",
      "Let the agent call the server's tools without asking you each time; without this option, a "
      "trust given before is withdrawn")("remove", "Take away what configure has written");
  return parser;
}

int Configure(const std::vector<std::string>& arguments) {
  OptionParser parser = ConfigureParser();
  const std::optional<cxxopts::ParseResult> parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const Options options = ReadOptions(parser, *parsed);
  if (options.agent == nullptr) {
    ListAgents(options.request.places.home);
    return 0;
  }
  ConfigureAgent(options);
  // What was configured with --project goes, too.
  if (options.remove && options.agent->keeps_projects && !options.request.user &&
      !options.request.project_files) {
    Options in_project = options;
    in_project.request.project_files = true;
    ConfigureAgent(in_project);
  }
  return 0;
}

}  // namespace commands
