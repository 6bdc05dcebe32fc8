// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/serve_options.h"
#include "copy/project.h"
#include "doctor/host_checks.h"
#include "lima/home.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/program.h"
#include "support/words.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using support::EnvironmentVariable;

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
    return {"limactl", "mcp", "serve", instance};
  }
  // A link on the search path survives an upgrade.
  const auto named = support::FindProgram("limactl-mcp", path);
  return {is_this(named) ? fs::absolute(*named).string() : fs::canonical(own_program).string(),
          "serve", instance};
}

void RequirePrintable(const std::string& word) {
  if (support::Printable(word) == word) return;
  throw support::Error("{} has characters that cannot be printed as they are; rename it", word);
}

/// `options` are those of `serve`.
agents::ServerRequest ReadRequest(const std::string& instance, const Parsed& options) {
  CheckOnHost(ReadServeOptions(options, instance));
  agents::ServerRequest request;
  request.environment = support::OwnEnvironment();
  request.server = LaunchCommand(instance);
  for (std::string& word : ServeArguments(options)) request.server.push_back(std::move(word));
  if (options.count("command-timeout") > 0) {
    request.call_timeout = CallTimeout(ReadCommandTimeout(options));
  }
  // The agent may be started in another directory.
  if (!EnvironmentVariable("LIMA_HOME").empty()) {
    request.server_environment = {{"LIMA_HOME", lima::HomeDirectory().string()}};
    RequirePrintable(request.server_environment["LIMA_HOME"]);
  }
  for (const std::string& word : request.server) RequirePrintable(word);
  request.tools = ToolNames();
  return request;
}

void PrintSteps(const std::vector<agents::Step>& steps) {
  int number = 1;
  for (const agents::Step& step : steps) {
    std::cout << support::Format("\n{}. {}\n", number++, step.text);
    if (step.lines.empty()) continue;
    std::cout << '\n' << step.lines << (step.lines.ends_with('\n') ? "" : "\n");
  }
  std::cout << '\n';
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
  const std::string instance = parsed.Positional(1, kAgentInstance);
  lima::CheckInstanceName(instance);
  const std::string project = copy::FindProject().string();
  const agents::ServerRequest request = ReadRequest(instance, *options);
  std::cout << support::Format("{}, for {}:\n", agent.title, support::Printable(project));
  PrintSteps(agent.set_up(request));
  const std::string note = NoteOnInstance(instance, options->count("copy") > 0 ? "" : project);
  if (!note.empty()) std::cout << support::Format("Note: {}\n", note);
  if (agent.run) {
    std::cout << support::Format(
        "Safer: limactl mcp run {} {} starts {} with settings that a command in the guest cannot "
        "change\n",
        agent.name, instance, agent.title);
  }
  return 0;
}

}  // namespace commands
