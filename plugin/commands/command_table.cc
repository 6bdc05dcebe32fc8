// SPDX-License-Identifier: Apache-2.0
#include "commands/command_table.h"

#include <array>

#include "agents/agent.h"
#include "commands/commands.h"

namespace commands {
namespace {

using enum Offers;

constexpr bool kIsList = true;

// clang-format off

// An option is {name, value, what a shell offers for that, brief, more, default, whether it is a list}.

// Options and arguments of several commands.
constexpr Option kProject = {"project", "DIR", kDirectories, "The copy of this project, also if it was moved or deleted since",
    "If the project is gone, run this in the repository that has its commits."};
constexpr Option kSetup = {"setup", "COMMAND", kNothing, "Run this in the copy whenever it was made or replaced, such as `npm ci`",
    "It is remembered, and runs as the guest's user, at once if it is new or has not come to its end. `--setup ''` forgets it. As the last word, without COMMAND: run it again.", "", false, Values::kOrEmptyOrAlone};
constexpr Option kName = {"name", "NAME", kNothing, "The copy with this name, one of several of the project",
    "It lies in PROJECT--NAME in the guest, unless `--copy-dir` names another directory, and its branch comes as INSTANCE/NAME."};
constexpr Option kInclude = {"include", "NAME", kFiles, "Lend this file that git does not track to the copy, or a directory's ignored ones",
    "NAME counts from the top of the project. The list is remembered. `--include ''` empties it.", "", kIsList, Values::kOrEmpty};
constexpr Option MaxSize(std::string_view more) { return {"max-size", "SIZE", kNothing, "The most that may come from the guest", more, "2GiB"}; }
constexpr Argument kInstance = {"[INSTANCE]", kInstances, "An instance of Lima (default: \"agent\")"};
constexpr Argument kServedInstance = {"[INSTANCE]", kInstances, "An instance of Lima (default: \"default\")"};

}  // namespace

std::span<const OptionGroup> OptionsOfServe() {
  static const std::array kGroups = {
      OptionGroup{"What the agent may use:", {
          {"root", "DIR", kDirectories, "Allow only this host directory, which must lie in a mount",
              "By default, the file tools may use all mounts. A link to such a directory will do. In a copy there is no root to choose.", "", kIsList},
          {"allow-path", "DIR[:w]", kDirectories, "Also allow this directory of the guest, such as /tmp; append :w to allow writing", "", "", kIsList},
          {"allow-settings", "", kNothing, "Let the file tools write settings of agents, editors and git", "Programs on the host obey these."}}},
      OptionGroup{"How the server works:", {
          {"start", "", kNothing, "Start a stopped instance: now, and whenever a call finds it stopped", "A start continues when this program exits."},
          {"command-timeout", "TIME", kNothing, "How long a command may run, such as 90s, 10m or 1h; 0: no limit (default: 9m; `run claude` without -p: 0)", "", "9m"},
          {"results", "STYLE", kStyles, "How results are sent",
              "`structured` is Lima's contract. `text` costs fewer tokens. `auto` is `text` for the agents of `configure`, else `structured`.", "auto"},
          {"audit", "FILE", kFiles, "Append a line of JSON to FILE for every call",
              "FILE must lie outside the writable mounts. Only you can read it. "
              "A line has time, process id of the server, number, tool, arguments, outcome (`succeeded`, `failed`, `refused` or `cancelled`), exit code, error and duration. "
              "A call that may change something has a line with the same number before, when it starts: its outcome is `started`. "
              "Of the content of files a line has 512 bytes. "
              "It is in ASCII; other characters are escaped."}}}};
  return kGroups;
}

std::span<const Command> Commands() {
  static const std::array kCommands = {
      Command{.name = "serve", .run = &Serve, .arguments = {kServedInstance},
          .brief = "Serve MCP over standard input and output for an instance", .more = "Agents start it themselves once they are configured.",
          .page = "configure.md", .example = "serve mounted --root ~/my-project", .options = {
              {"copy", "PROJECT", kDirectories, "Serve the copy of this host directory, and nothing else of the host", "Made by `limactl mcp copy`. Excludes `--root`."}, kName},
          .has_options_of_serve = true},
      Command{.name = "run", .run = &RunAgent, .arguments = {{"AGENT", kAgentsOfRun, "The agent"}, kInstance,
              {"[-- AGENT-ARGS]", kNothing, "For the agent; `limactl mcp run AGENT --help` lists what it may get"}},
          .brief = "Start an agent that can only use the tools of an instance",
          .more = "It works for the project in the current directory, without its own file and shell tools and without the project's settings: "
              "on a writable mount that contains the project, or in a copy if the instance mounts nothing of it. "
              "A stopped instance is started. If there is no instance `agent`, you are asked whether to create it.",
          .page = "agents.md", .example = "run claude agent --trust -- -p \"run the tests\"",
          .exit_status = "that of the agent; 128 and the number of the signal that killed it; 1 after an error", .options = {
              {"copy-dir", "DIR", kNothing, "Work in a copy, in this directory of the guest", "It must lie outside all mounts, and is remembered."}, kName,
              kSetup, kInclude,
              {"trust", "", kNothing, "Let the agent call the tools of the guest without asking you"},
              {"mcp", "NAME=COMMAND", kNothing, "Also start this MCP server, in the guest", "It runs in the project's directory there. Nothing of it runs on the host.", "", kIsList},
              {"port", "[HOST:]GUEST", kNothing, "Open this port of the guest on this host while the agent runs", "As `limactl mcp port` does.", "", kIsList},
              {"host-mcp", "NAME", kNothing, "Also start your own MCP server of that name, on the host", "The agent asks before each call, also with `--trust`.", "", kIsList}},
          .has_options_of_serve = true},
      Command{.name = "copy", .run = &Copy, .arguments = {kInstance},
          .brief = "Copy the project into an instance, or refresh the copy", .more = "The copy is refreshed if all work in it was taken. Prints the command that serves it.",
          .page = "copy.md", .example = "copy", .exit_status = "1 also if the set-up command failed or was not run; 128 and the number of the signal that ended it", .options = {
              {"copy-dir", "DIR", kNothing, "The directory in the guest, if not the project's own path", "It must lie outside all mounts."}, kName, kSetup, kInclude}},
      Command{.name = "diff", .run = &Diff, .arguments = {kInstance},
          .brief = "Show what was changed in the copy, or on a mount", .more = "On a mount, that is since the last session began. Into a pipe, it is a patch for `git apply`.",
          .page = "copy.md", .example = "diff --stat", .options = {
              {"stat", "", kNothing, "Only names, with numbers of lines"},
              {"since", "N", kNothing, "Since a checkpoint that `log` lists; in a copy"}, kProject, kName, MaxSize("On a mount, larger files are left out.")}},
      Command{.name = "take", .run = &Take, .arguments = {kInstance}, .brief = "Bring the changes made in the copy back, as a branch",
          .page = "copy.md", .example = "take --apply", .exit_status = "1 also if something could not be taken", .options = {
              {"apply", "", kNothing, "Change the working tree instead: all of it or nothing",
                  "Asks first if the change deletes or takes back your own uncommitted work, if a filter or line-end rule of yours converts a file of it, if it has files that the file tools refuse to write, or that your git settings or hooks name, or if it is too large to be examined."},
              {"yes", "", kNothing, "Do not ask, whatever the change contains"},
              {"undo", "", kNothing, "Put back the files that the last --apply changed",
                  "Nothing, if you have changed one of them since. Again: the way forward."},
              {"force", "", kNothing, "With --undo: also if you have changed them since"},
              {"branch", "NAME", kNothing, "The name of the branch", "By default, INSTANCE/ and that of the copy. One that exists is moved only if `take` made it."},
              kProject, kName, MaxSize("")}},
      Command{.name = "drop", .run = &Drop, .arguments = {kInstance}, .brief = "Set the copy aside for 14 days", .more = "Refuses while something was not taken.",
          .page = "copy.md", .example = "drop", .options = {
              {"force", "", kNothing, "Even if something was not taken"},
              {"undo", "", kNothing, "Bring the copy back that was set aside last", "A copy that is there now is set aside in its place."},
              {"all", "", kNothing, "Every copy of this project in this instance", "One that may not be dropped stays, and is named."},
              {"purge", "", kNothing, "Delete the copy, and with --force what is set aside of this project", "It cannot be brought back."}, kProject, kName}},
      Command{.name = "log", .run = &Log, .arguments = {kInstance}, .brief = "List the checkpoints of a copy's files", .more = "Makes one first, of now.",
          .page = "undo.md", .example = "log --follow", .options = {
              {"follow", "", kNothing, "Go on, and print each new one", "For a second terminal: Ctrl-C ends it."}, kProject, kName}},
      Command{.name = "undo", .run = &Undo, .arguments = {{"[N]", kNothing, "A checkpoint that `log` lists; 0 is as it was sent (default: the state before the present one)"}, kInstance},
          .brief = "Put the files of a copy back as at a checkpoint", .more = "Makes one first, of now, so that this can be undone. Commits, branches and ignored files stay as they are.",
          .page = "undo.md", .example = "undo 5", .options = {
              {"yes", "", kNothing, "Do not ask, also while an agent works in the copy"}, kProject, kName}},
      Command{.name = "changes", .run = &Changes, .arguments = {kInstance},
          .brief = "List changes that programs on this host would run or obey", .more = "On a mount since the baseline, which the first `run` takes; in a copy since it was sent.",
          .page = "changes.md", .example = "changes", .exit_status = "0 if there are none, 1 if there are some, 2 after an error", .options = {
              {"accept", "", kNothing, "Accept the mounted project's present state as the baseline"}}},
      Command{.name = "configure", .run = &Configure,
          .arguments = {{"[AGENT]", kAgents, "The agent or editor"}, kInstance, {"[-- SERVE-OPTIONS]", kNothing, "Options of `serve`, for the server"}},
          .brief = "Print how to give an agent the server, and switch its own tools off",
          .more = "Prints the steps, for the project in the current directory: a command for a terminal, or lines for a file. Changes nothing. "
              "Without AGENT, lists all, and marks those found on this machine.",
          .page = "configure.md", .example = "configure cursor mounted"},
      Command{.name = "allow", .run = &Allow, .arguments = {{"INSTANCE", kInstances, "A closed instance"}, {"[HOST[:PORT]...]", kNothing, "A full name of a host; the port is 443 unless named"}},
          .brief = "Let the guest of a closed instance reach a host", .more = "At once, by https. Without HOST, prints what is allowed.",
          .page = "network.md", .example = "allow closed pypi.org files.pythonhosted.org", .options = {
              {"remove", "", kNothing, "Allow these no longer", "Open connections go on until they are closed."}}},
      Command{.name = "port", .run = &Port, .arguments = {{"[HOST:]GUEST...", kNothing, "A port of the guest, and the one of this host that leads to it, if it is another"}, kInstance},
          .brief = "Open servers of the guest on this host's loopback", .more = "Until Ctrl-C. Prints a line for each port as soon as it can be used.",
          .page = "ports.md", .example = "port 8080:3000"},
      Command{.name = "info", .run = &Info, .brief = "Print the tools as JSON", .more = "Needs no instance.", .example = "info"},
      Command{.name = "doctor", .run = &Doctor, .arguments = {kServedInstance},
          .brief = "Check everything between an agent and an instance, and print what to do",
          .page = "troubleshooting.md", .example = "doctor agent", .exit_status = "1 also if a check failed", .options = {
              {"json", "", kNothing, "Print one JSON object instead of lines"}}}};
  return kCommands;
}

const Command* FindCommand(std::string_view name) {
  static const Command kHidden = {.name = "generate-doc", .run = &GenerateDoc, .arguments = {{"DIR", kDirectories, "An existing directory"}},
      .brief = "Write the documents that are made from the program's tables", .example = "generate-doc /tmp"};
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return name == kHidden.name ? &kHidden : nullptr;
}

std::vector<Row> EnvironmentVariables() {
  return {{"LIMA_HOME", "The directory of Lima's instances, by default ~/.lima. If it is set, `configure` passes it to the server."},
          {"LIMA_TEMPLATES_PATH", "Where limactl looks for templates. If it is set, commands name the template `agent-sandbox` by the path of its file."},
          {"HOME, TMPDIR", "Values for the templates of an instance's mounts."},
          {"PATH", "Where programs are looked for, except in relative directories and those that the guest can write."},
          {"CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME, XDG_CONFIG_HOME", "Where agents keep your own settings, for `run`. Each must be an absolute path."},
          {"XDG_STATE_HOME", "Where `run` keeps its files, instead of ~/.local/state."},
          {"PAGER", "What `diff` shows its output with on a terminal."}};
}

std::vector<Row> FilesOfLima() {
  return {{"$LIMA_HOME/INSTANCE/lima.yaml", "The instance's configuration. The file tools accept only its mounts, or the copy, and the directories of `--allow-path`."},
          {"$LIMA_HOME/_config/default.yaml, $LIMA_HOME/_config/override.yaml", "What Lima adds to the configuration of every instance, including mounts."},
          {"$LIMA_HOME/INSTANCE/network.allow", "What a closed instance may reach, a HOST:PORT in each line; `allow` changes it. Read for each request."},
          {"$LIMA_HOME/INSTANCE/ssh.config", "How to reach the instance; read before each connection. Your own SSH configuration and agent are not used."}};
}

// clang-format on

std::vector<std::string> OfferedWords(Offers offers) {
  if (offers == kStyles) return {"auto", "structured", "text"};
  std::vector<std::string> names;
  for (const agents::Agent& agent : agents::Agents()) {
    if (offers == kAgents || (offers == kAgentsOfRun && agent.run)) names.emplace_back(agent.name);
  }
  return names;
}

std::vector<Option> AllOptions(const Command& command) {
  std::vector<Option> all = command.options;
  if (!command.has_options_of_serve) return all;
  for (const OptionGroup& group : OptionsOfServe()) {
    all.insert(all.end(), group.options.begin(), group.options.end());
  }
  return all;
}

}  // namespace commands
