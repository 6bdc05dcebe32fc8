// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/common.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/serve_options.h"
#include "configure/stored_settings.h"
#include "doctor/host_checks.h"
#include "lima/home.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/format.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/program.h"
#include "support/words.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using agents::SettingsRequest;
using configure::Edited;
using configure::SettingsFile;
using configure::StoredSettings;
using support::EnvironmentVariable;

struct Job {
  const Agent* agent = nullptr;
  std::string instance;
  std::vector<std::string> launch;  ///< the command without the instance
  SettingsRequest request;
  bool in_copy = false;
  bool print = false;
};

/// A settings file, and what becomes of it.
struct Edit {
  SettingsFile file;
  bool is_users;  ///< in the user's own settings, not in the project
  StoredSettings stored;
  Edited edited = {};

  [[nodiscard]] bool changes() const { return edited.text != stored.text(); }
};

/// Starts `serve` for an agent: with limactl if that runs this program as its plugin. The agent
/// finds limactl by its name, so no directory of $PATH may be in the guest's reach.
std::vector<std::string> LaunchCommand(const std::string& instance) {
  const exposure::GuestReach reach = ReachOf(instance);
  const std::string path = reach.SafeSearchPath(EnvironmentVariable("PATH"));
  const bool is_safe = path == EnvironmentVariable("PATH");
  const fs::path own_program = support::OwnProgram();
  std::error_code error;
  const auto is_this = [&](const std::optional<fs::path>& program) {
    return program && fs::equivalent(*program, own_program, error);
  };
  const auto limactl = reach.FindProgram("limactl", path);
  if (is_safe && limactl && is_this(doctor::FindPlugin(*limactl, path))) {
    return {"limactl", "mcp", "serve"};
  }
  // A link on the search path survives an upgrade.
  const auto named = support::FindProgram("limactl-mcp", path);
  return {is_this(named) ? fs::absolute(*named).string() : fs::canonical(own_program).string(),
          "serve"};
}

/// Adds options of `serve` to the server's command.
void AddOptions(const Parsed& options, Job& job) {
  try {
    const ServeOptions serve = ReadServeOptions(options, job.instance);
    if (!job.request.remove) CheckOnHost(serve);
  } catch (const lima::ConfigurationError&) {  // a note has it
  }
  for (std::string& word : ServeArguments(options)) job.request.server.push_back(std::move(word));
  job.in_copy = options.count("copy") > 0;
  if (options.count("command-timeout") == 0) return;
  job.request.call_timeout = CallTimeout(ReadCommandTimeout(options));
}

Job ReadJob(const Agent& agent, const Parsed& parsed, const Parsed& options) {
  Job job;
  job.agent = &agent;
  job.print = parsed["print"].as<bool>();
  SettingsRequest& request = job.request;
  request.remove = parsed["remove"].as<bool>();
  request.user = parsed["user"].as<bool>();
  request.project_files = parsed["project"].as<bool>();
  request.trust = parsed["trust"].as<bool>();
  if (request.user && request.project_files) {
    throw UsageError("--user and --project exclude each other");
  }
  if (request.remove && request.trust) throw UsageError("--remove and --trust exclude each other");
  job.instance = parsed.Positional(1, kAgentInstance);
  lima::CheckInstanceName(job.instance);
  job.launch = LaunchCommand(job.instance);
  request.environment = support::OwnEnvironment();
  request.server = job.launch;
  request.server.push_back(job.instance);
  AddOptions(options, job);
  // The agent may be started in another directory.
  const bool has_home = !EnvironmentVariable("LIMA_HOME").empty();
  if (has_home) request.server_environment = {{"LIMA_HOME", lima::HomeDirectory().string()}};
  if (!request.remove) {
    RequireUtf8(request.server);
    if (has_home) RequireUtf8({request.server_environment["LIMA_HOME"]});
  }
  request.tools = ToolNames();
  const fs::path home = EnvironmentVariable("HOME");
  if (!home.is_absolute()) throw UsageError("HOME must be set to your home directory");
  request.base = request.user ? home : FindProject(home, ", or give --user");
  request.project_key = FindRepository(request.base).value_or(request.base).string();
  return job;
}

void ListAgents() {
  constexpr std::size_t kNameWidth = 10;
  for (const Agent& agent : agents::Agents()) {
    const auto programs = support::Words(agent.programs);
    const bool is_found = std::any_of(programs.begin(), programs.end(), [](auto program) {
      return support::FindProgram(std::string(program), EnvironmentVariable("PATH")).has_value();
    });
    std::string name(agent.name);
    name.resize(std::max(kNameWidth, name.size()), ' ');
    std::cout << "  " << name << agent.title << (is_found ? " (found on this machine)" : "")
              << '\n';
  }
  std::cout << "Configure one with: limactl mcp configure AGENT [INSTANCE]\n";
}

Edit ReadEdit(const Job& job, const SettingsFile& file) {
  const bool is_users = job.request.user || fs::path(file.path).is_absolute();
  const fs::path& base = job.request.base;
  std::error_code unknown;  // StoredSettings reports errors
  const bool uses_other = !file.alternative.empty() &&
                          fs::exists(base / file.alternative, unknown) &&
                          (file.alternative_counts || !fs::exists(base / file.path, unknown));
  return {.file = file,
          .is_users = is_users,
          .stored = {base / (uses_other ? file.alternative : file.path),
                     is_users ? std::nullopt : std::optional(base)}};
}

/// Calls `work`. Adds the file's name to its errors.
template <typename Work>
auto WithFileName(const Edit& edit, const Work& work) {
  try {
    return work();
  } catch (const support::Error& error) {
    throw support::CommandError("{}{}; nothing was written", edit.stored.path().string(),
                                error.what());
  }
}

/// Reads the files and computes all new texts, in the order to write them. Writes nothing, so that
/// a file that cannot be edited leaves the others alone. What was chosen before is set in `job`.
/// Prints what the user must change first, and throws then.
std::vector<Edit> PlanEdits(Job& job, const std::vector<SettingsFile>& files) {
  std::vector<Edit> edits;
  bool is_there = false;
  bool was_trusted = false;
  for (const SettingsFile& file : files) {
    Edit& edit = edits.emplace_back(ReadEdit(job, file));
    edit.edited = WithFileName(edit, [&] { return Remove(file, edit.stored.text()); });
    is_there |= edit.edited.had_entry;
    was_trusted |= edit.edited.was_trusted;
  }
  job.request.trust |= is_there && was_trusted;
  std::string conflicts;
  for (Edit& edit : edits) {
    const std::optional<std::string>& text = edit.stored.text();
    if (!job.request.remove) {
      edit.edited = WithFileName(edit, [&] { return Add(edit.file, text, job.request.trust); });
      job.in_copy |= edit.edited.in_copy;
      for (const std::string& line : edit.edited.lines) {
        conflicts += support::Printable(edit.stored.path().string() + line) + "\n";
      }
    } else if (!is_there) {  // what equals ours is not ours
      edit.edited = {text};
    }
    // Without its target, a link would dangle.
    if (!edit.edited.text && edit.stored.is_link()) edit.edited.text = "{}\n";
  }
  if (!conflicts.empty()) {
    std::cout << conflicts << std::flush;
    throw support::CommandError("nothing was written; change these lines and run configure again");
  }
  // An agent gets its own tools back only after it has lost the server.
  if (job.request.remove) std::reverse(edits.begin(), edits.end());
  return edits;
}

std::string Shown(const Job& job, const Edit& edit) {
  const fs::path& path = edit.stored.path();
  return edit.is_users ? path.string() : path.lexically_relative(job.request.base).string();
}

void PrintTexts(const Job& job, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    const std::optional<std::string>& text = edit.edited.text;
    const char* state = !text ? " (none)\n" : edit.stored.text() ? " (changed)\n" : " (new)\n";
    std::cout << "==> " << Shown(job, edit) << (text && !edit.changes() ? " (as it is)\n" : state);
    // The rest of the user's own file is long, and may hold credentials.
    const bool is_whole = job.request.user || !edit.is_users;
    if (is_whole) std::cout << support::Printable(text.value_or(""), "\n\t");
    if (!is_whole && !job.request.remove)
      std::cout << *Add(edit.file, std::nullopt, job.request.trust).text;
  }
}

/// The command as this program was found: `limactl mcp` may run another one.
std::string UndoCommand(const Job& job) {
  std::vector<std::string> command = job.launch;
  command.back() = "configure";  // it was "serve"
  command.emplace_back(job.agent->name);
  if (job.request.user) command.emplace_back("--user");
  command.emplace_back("--remove");
  return shell::ShellCommand(command);
}

/// Prints the agent, and for whom it is configured.
void PrintHeading(const Job& job) {
  std::cout << support::Format(
      "{}, for {}:\n", job.agent->title,
      job.request.user ? "all your projects" : support::Printable(job.request.base.string()));
}

/// Writes the files, and prints the outcome for each. Returns whether one was changed.
bool WriteEdits(const Job& job, const std::vector<Edit>& edits) {
  bool wrote = false;
  for (const Edit& edit : edits) {
    const std::optional<std::string>& text = edit.edited.text;
    const char* state = text ? "  as it was  " : "  not there  ";
    if (edit.changes()) {
      wrote = true;
      state = text ? "  wrote      " : "  removed    ";
      text ? edit.stored.Write(*text) : edit.stored.Remove();
    }
    if (&edit == &edits.front()) PrintHeading(job);
    // The guest may have chosen the target's name.
    const std::string link =
        edit.stored.is_link() ? " -> " + support::Printable(edit.stored.target().string()) : "";
    std::cout << state << Shown(job, edit) << link << '\n';
    for (const std::string& line : edit.edited.lines) {
      std::cout << support::Format("    without {}\n", support::Printable(line));
    }
  }
  return wrote;
}

/// `wrote`: else the entry may have options of before.
void ReportNotes(const Job& job, bool wrote) {
  const SettingsRequest& request = job.request;
  const Agent& agent = *job.agent;
  if (wrote) {
    std::cout << support::Format(
        "Starts the server with: {}\n",
        support::Join(agents::ServerCommand(request, "(the project)"), " "));
  }
  for (const std::string& note : agent.settings(request).notes) {
    std::cout << support::Format("Note: {}\n", note);
  }
  if (agent.needs_trust && !request.user) {
    std::cout << support::Format(
        "Note: {} reads this file only in a project that it trusts, and asks once.\n", agent.title);
  }
  if (agent.run && !request.user) {
    std::cout << support::Format(
        "Safer: limactl mcp run {} {} starts {} with settings that a command in the guest cannot "
        "change\n",
        agent.name, job.instance, agent.title);
  }
  const bool needs_mount = !request.user && !job.in_copy;
  const std::string note =
      NoteOnInstance(job.instance, needs_mount ? job.request.base.string() : "");
  if (!note.empty()) std::cout << support::Format("Note: {}\n", note);
  std::cout << support::Format("Undo with: {}\n", UndoCommand(job));
}

void ConfigureAgent(Job& job) {
  const agents::AgentSettings settings = job.agent->settings(job.request);
  const bool is_edited = settings.steps.empty();
  const std::vector<Edit> edits = is_edited ? PlanEdits(job, settings.files) : std::vector<Edit>();
  if (job.print && is_edited) return PrintTexts(job, edits);
  const bool wrote = WriteEdits(job, edits);
  if (!is_edited) {
    PrintHeading(job);
    std::cout << support::Format("Nothing is written: do this yourself.\n{}\n",
                                 support::Printable(settings.steps, "\n"));
  }
  if (!job.request.remove) ReportNotes(job, wrote || !is_edited);
}

}  // namespace

int Configure(const Parsed& parsed) {
  if (parsed.unmatched().empty() && parsed.arguments().empty() && parsed.rest.empty()) {
    ListAgents();
    return 0;
  }
  const Agent& agent = FindAgent(parsed.Positional(0), false);
  Command serve = *FindCommand("serve");
  serve.arguments.clear();  // the instance is one of configure's
  const auto options = Parse(serve, parsed.rest);
  if (!options) return 0;
  Job job = ReadJob(agent, parsed, *options);
  ConfigureAgent(job);
  return 0;
}

}  // namespace commands
