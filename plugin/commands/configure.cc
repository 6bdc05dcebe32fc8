#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/instance_mounts.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "configure/edits.h"
#include "doctor/installation.h"
#include "lima/home.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/join.h"
#include "support/printable.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using configure::Agent;
using configure::Edit;
using configure::Job;
using configure::Request;
using support::EnvironmentVariable;

/// Relative paths are ignored: they would mean another directory to the agent.
std::string DirectoryOr(const char* name, const std::string& fallback) {
  const std::string value = EnvironmentVariable(name);
  return value.starts_with('/') ? value : fallback;
}

configure::UserDirectories FindUserDirectories() {
  configure::UserDirectories directories;
  directories.home = DirectoryOr("HOME", "");
  if (directories.home.empty()) throw UsageError("HOME must be set to your home directory");
  directories.config = DirectoryOr("XDG_CONFIG_HOME", directories.home + "/.config");
  directories.gemini_home = DirectoryOr("GEMINI_CLI_HOME", directories.home);
  directories.codex_home = DirectoryOr("CODEX_HOME", directories.home + "/.codex");
  directories.claude_home = DirectoryOr("CLAUDE_CONFIG_DIR", "");
#ifdef __APPLE__
  directories.vscode_user = directories.home + "/Library/Application Support/Code/User";
#else
  directories.vscode_user = directories.config + "/Code/User";
#endif
  return directories;
}

/// Claude Code stores the settings of a project by this directory.
fs::path GitRoot(const fs::path& project) {
  std::error_code unknown;
  for (fs::path directory = project; directory != directory.root_path();
       directory = directory.parent_path()) {
    if (fs::exists(directory / ".git", unknown)) return directory;
  }
  return project;
}

/// Starts `serve` for an agent: with limactl if that runs this program as its plugin.
std::vector<std::string> LaunchCommand() {
  const std::string path = EnvironmentVariable("PATH");
  const fs::path own_program = doctor::OwnProgram();
  std::error_code error;
  const auto is_this = [&](const std::optional<fs::path>& program) {
    return program && fs::equivalent(*program, own_program, error);
  };
  const auto limactl = doctor::FindProgram("limactl", path);
  if (limactl && is_this(doctor::FindPlugin(*limactl, path))) return {"limactl", "mcp", "serve"};
  // A link on the search path survives an upgrade.
  const auto named = doctor::FindProgram("limactl-mcp", path);
  return {is_this(named) ? fs::absolute(*named).string() : fs::canonical(own_program).string(),
          "serve"};
}

Job ReadJob(const cxxopts::ParseResult& parsed) {
  const std::vector<std::string>& positional = parsed.unmatched();
  Job job;
  job.agent = &FindAgent(configure::Agents(), positional);
  job.remove = parsed["remove"].as<bool>();
  Request& request = job.request;
  request.user = parsed["user"].as<bool>();
  request.project_files = parsed["project"].as<bool>();
  request.trust = parsed["trust"].as<bool>();
  if (request.user && request.project_files) {
    throw UsageError("--user and --project exclude each other");
  }
  if (job.remove && request.trust) throw UsageError("--remove and --trust exclude each other");
  request.instance = positional.size() > 1 ? positional[1] : kDefaultInstance;
  lima::CheckInstanceName(request.instance);
  request.directories = FindUserDirectories();
  request.launch = LaunchCommand();
  // The agent may be started in another directory.
  if (!EnvironmentVariable("LIMA_HOME").empty()) request.lima_home = lima::HomeDirectory().string();
  if (!job.remove) {
    RequireUtf8(request.launch);
    RequireUtf8({request.lima_home.value_or("")});
  }
  request.tools = ToolNames();
  const std::string& home = request.directories.home;
  job.base = request.user ? fs::path(home) : FindProject(home, ", or give --user");
  job.state = configure::StateDirectory(home, EnvironmentVariable("XDG_STATE_HOME"));
  request.project_key = GitRoot(job.base).string();
  return job;
}

bool IsFound(const Agent& agent, const std::string& home) {
  for (const std::string_view program : configure::Words(agent.programs)) {
    if (doctor::FindProgram(std::string(program), EnvironmentVariable("PATH"))) return true;
  }
  for (const std::string_view directory : agent.directories) {
    std::error_code unknown;
    if (fs::is_directory(fs::path(home) / directory, unknown)) return true;
  }
  return false;
}

void ListAgents(const std::string& home) {
  constexpr std::size_t kNameWidth = 10;
  for (const Agent& agent : configure::Agents()) {
    std::string name(agent.name);
    name.resize(std::max(kNameWidth, name.size()), ' ');
    std::cout << "  " << name << agent.title
              << (IsFound(agent, home) ? " (found on this machine)" : "") << '\n';
  }
  std::cout << "Configure one with: limactl mcp configure AGENT [INSTANCE]\n";
}

std::string Shown(const Job& job, const Edit& edit) {
  const fs::path& path = edit.stored.path();
  return edit.is_users ? path.string() : path.lexically_relative(job.base).string();
}

void PrintChange(const configure::Change& change) {
  if (change.value.is_array() && change.value.empty()) return;
  const bool entry = change.kind == configure::Change::Kind::kEntry;
  std::cout << "    " << configure::Dotted(change.path) << (entry ? "" : ": " + change.value.dump())
            << '\n';
}

/// Escapes what could drive the terminal, but keeps line breaks and tabs.
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

void PrintTexts(const Job& job, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    std::cout << "==> " << Shown(job, edit)
              << (!edit.text           ? " (none)"
                  : !edit.changes()    ? " (as it is)"
                  : edit.stored.text() ? " (changed)"
                                       : " (new)")
              << '\n';
    std::string text = edit.text.value_or("");
    // The rest of the user's own file is long, and may hold credentials.
    if (edit.is_users && !job.request.user) {
      text = job.remove ? "" : configure::Configure(edit.file, std::nullopt).text;
    }
    std::cout << PrintableLines(text);
  }
}

/// The command as this program was found: `limactl mcp` may run another one.
std::string UndoCommand(const Job& job) {
  std::vector<std::string> command = job.request.launch;
  command.back() = "configure";  // it was "serve"
  command.emplace_back(job.agent->name);
  if (job.request.user) command.emplace_back("--user");
  command.emplace_back("--remove");
  return shell::ShellCommand(command);
}

void ReportFiles(const Job& job, const std::vector<Edit>& edits) {
  std::cout << job.agent->title
            << (job.request.user ? ", for all your projects:\n"
                                 : ", for " + support::Printable(job.base.string()) + ":\n");
  for (const Edit& edit : edits) {
    // The guest may have chosen the target's name.
    const std::string link =
        edit.stored.is_link() ? " -> " + support::Printable(edit.stored.target().string()) : "";
    std::cout << "  "
              << (edit.changes() ? (edit.text ? "wrote      " : "removed    ")
                                 : (edit.text ? "as it was  " : "not there  "))
              << Shown(job, edit) << link << '\n';
    if (job.remove) continue;
    for (const configure::Change& change : edit.file.changes) PrintChange(change);
  }
}

void ReportNotes(const Job& job) {
  const Request& request = job.request;
  const Agent& agent = *job.agent;
  std::cout << "Starts the server with: " << support::Join(request.launch, " ") << ' '
            << request.instance << " --root (the project)\n";
  for (const std::string& note : agent.settings(request).notes)
    std::cout << "Note: " << note << '\n';
  if (agent.can_run && !request.user) {
    std::cout << "Safer: limactl mcp run " << agent.name << ' ' << request.instance << " starts "
              << agent.title << " with settings that a command in the guest cannot change\n";
  }
  const auto project = request.user ? std::nullopt : std::make_optional(job.base);
  const std::string instance = NoteOnInstance(request.instance, project).text;
  if (!instance.empty()) std::cout << "Note: " << instance << '\n';
  std::cout << "Undo with: " << UndoCommand(job) << '\n';
}

configure::Plan Plan(const Job& job) {
  try {
    return PlanEdits(job);
  } catch (const configure::EditError& error) {
    if (!error.snippet().empty()) {
      std::cout << "Add this by hand instead:\n" << error.snippet() << std::flush;
    }
    throw;
  }
}

void ConfigureAgent(const Job& job, bool print) {
  const configure::Plan plan = Plan(job);
  if (print) return PrintTexts(job, plan.edits);
  WriteEdits(job, plan);
  ReportFiles(job, plan.edits);
  if (!job.remove) ReportNotes(job);
}

}  // namespace

int Configure(const std::vector<std::string>& arguments) {
  OptionParser parser("configure",
                      "Let an agent find the server, and switch off its own file and shell tools. "
                      "Without AGENT: list the agents",
                      "[AGENT] [INSTANCE]", 2);
  cxxopts::OptionAdder add = parser.AddOptions();
  add("print", "Only show what the files would be");
  add("user", "For all your projects, in your own settings, instead of for the current directory");
  add("project",
      "In files of the project only, also for agents that keep a project's settings elsewhere");
  add("trust",
      "Let the agent call the server's tools without asking you each time; without this option, a "
      "trust given before is withdrawn");
  add("remove", "Take away what configure has written");
  const std::optional<cxxopts::ParseResult> parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  if (parsed->unmatched().empty() && parsed->arguments().empty()) {
    ListAgents(FindUserDirectories().home);
    return 0;
  }
  Job job = ReadJob(*parsed);
  const bool print = (*parsed)["print"].as<bool>();
  ConfigureAgent(job, print);
  // Files of the project may have been configured with --project.
  if (job.remove && job.agent->keeps_projects && !job.request.user && !job.request.project_files) {
    job.request.project_files = true;
    ConfigureAgent(job, print);
  }
  return 0;
}

}  // namespace commands
