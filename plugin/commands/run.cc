#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "agents/agent.h"
#include "agents/session.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/run_checks.h"
#include "commands/serve_options.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "paths/guest_reach.h"
#include "support/child.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/log.h"
#include "support/printable.h"
#include "support/program.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using support::CallError;
using support::EnvironmentVariable;

/// Agents read thousands of files before they print their version.
constexpr std::chrono::seconds kQueryTimeout{30};

fs::path FindAgentProgram(const Agent& agent, const std::string& path,
                          const paths::GuestReach& reach) {
  const auto program = reach.FindProgram(std::string(agent.name), path);
  if (program) return *program;
  throw CallError(std::string(agent.title) + " is not installed: no program \"" +
                  std::string(agent.name) +
                  "\" on PATH outside the project. Install it: npm install -g " +
                  std::string(agent.run->package));
}

/// Returns what the program prints on its standard output.
std::string OutputOf(const fs::path& program, const std::vector<std::string>& words) {
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), words.begin(), words.end());
  const auto context = support::Context().WithTimeout(kQueryTimeout);
  std::string output;
  try {
    support::Child child(command);
    child.CloseInput();
    while (const auto line = child.ReadLine(context)) output += *line + "\n";
    child.Finish(context);
  } catch (const support::Stopped&) {
    throw CallError(support::Join(command, " ") + " does not exit; run it to see why");
  }
  return output;
}

void RequireVersion(const Agent& agent, const fs::path& program) {
  const std::string printed = OutputOf(program, {"--version"});
  const auto version = agents::ParseVersion(printed);
  if (version && *version >= agent.run->oldest) return;
  throw CallError(std::string(agent.title) + " " +
                  (version ? agents::ToString(*version) : "of an unknown version") +
                  " cannot be confined; " + agents::ToString(agent.run->oldest) +
                  " is the oldest that can. Update it: " +
                  agents::UpdateCommand(*agent.run, fs::canonical(program).string()));
}

/// Gives this process the directory and environment of the agent.
void Enter(const std::string& directory, const agents::Environment& environment) {
  if (::chdir(directory.c_str()) != 0) {
    throw std::system_error(errno, std::generic_category(), directory);
  }
  for (const auto& [name, value] : agents::OwnEnvironment()) {
    if (!environment.contains(name)) ::unsetenv(name.c_str());
  }
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
}

/// Becomes the agent.
[[noreturn]] void Execute(const fs::path& program, const agents::Launch& launch) {
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  throw std::system_error(errno, std::generic_category(), program.string());
}

std::vector<std::string> ServerCommand(const cxxopts::ParseResult& parsed,
                                       const std::string& instance, const std::string& project) {
  std::vector<std::string> command = {support::OwnProgram().string(), "serve", instance};
  const std::vector<std::string> options = ServeArguments(parsed);
  command.insert(command.end(), options.begin(), options.end());
  if (parsed.count("root") == 0) command.insert(command.end(), {"--root", project});
  return command;
}

/// What the server needs. Some agents start it without their own environment.
agents::Environment ServerEnvironment(const agents::Environment& environment) {
  agents::Environment chosen = environment;
  std::erase_if(chosen, [](const auto& variable) {
    return variable.first != "HOME" && variable.first != "LIMA_HOME" && variable.first != "PATH";
  });
  return chosen;
}

[[noreturn]] void Start(const Agent& agent, const agents::LaunchRequest& request,
                        const fs::path& program) {
  agents::Launch launch = agent.run->launch(request);
  agents::WriteSessionFiles(request, launch);
  Enter(request.directory, launch.environment);
  RequireVersion(agent, program);
  if (!agent.run->query.empty()) {
    agent.run->use_output(request, OutputOf(program, agent.run->query), launch);
    agents::WriteSessionFiles(request, launch);
  }
  Execute(program, launch);
}

/// For each agent that `words` name.
void PrintArgumentHelp(const std::vector<std::string>& words) {
  for (const Agent& agent : agents::Agents()) {
    if (!agent.run || std::find(words.begin(), words.end(), agent.name) == words.end()) continue;
    std::cout << '\n' << agents::ArgumentHelp(agent.run->rules);
  }
}

}  // namespace

int RunAgent(const std::vector<std::string>& arguments) {
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  OptionParser parser("run",
                      "Start an agent for the current directory: in the VM, without its own file "
                      "and shell tools, and without the project's settings",
                      "AGENT [INSTANCE] [-- AGENT-ARGS]", 2);
  AddServeOptions(parser);
  parser.AddOptions()("trust", "Let the agent call the server's tools without asking each time");
  const auto parsed = parser.Parse({arguments.begin(), separator});
  if (!parsed) {
    PrintArgumentHelp({arguments.begin(), separator});
    return 0;
  }
  const std::vector<std::string>& positional = parsed->unmatched();
  const Agent& agent =
      FindAgent(positional, true, ". For an editor, see limactl mcp configure --help");
  const std::string instance = positional.size() > 1 ? positional[1] : kDefaultInstance;

  agents::LaunchRequest request;
  if (separator != arguments.end()) request.arguments.assign(separator + 1, arguments.end());
  if (const auto refused = agents::FindRefused(request.arguments, agent.run->rules))
    throw UsageError(*refused);
  request.project = FindProject(EnvironmentVariable("HOME")).string();
  const std::string note = NoteOnInstance(instance, request.project);
  if (!note.empty()) support::LogWarning(note);
  const ServeOptions serve = ReadServeOptions(*parsed, instance);
  const auto configuration = lima::LoadConfiguration(serve.instance.lima_home, instance);
  const auto mounts = lima::ListMounts(configuration);
  const paths::GuestReach reach(mounts);

  request.environment = agents::OwnEnvironment();
  // They make a shell, Node.js or git read files of the caller's directory.
  agents::Unset(request.environment,
                "BASH_ENV ENV GIT_* INIT_CWD NODE_OPTIONS NODE_PATH OLDPWD PWD");
  // Lima's files may name it.
  const std::string temporary = agents::Value(request.environment, "TMPDIR");
  DropNamedFiles(reach, request.environment);
  const std::string path = reach.SafeSearchPath(EnvironmentVariable("PATH"));
  request.environment["PATH"] = path;
  request.server = ServerCommand(*parsed, instance, request.project);
  request.server_environment = ServerEnvironment(request.environment);
  request.server_environment["TMPDIR"] = temporary;
  request.tools = ToolNames();
  request.call_timeout = CallTimeout(serve.tools.command_timeout);
  request.trust = (*parsed)["trust"].as<bool>();
  const fs::path state = agents::StateDirectory(request.environment);
  agents::SetDirectories(state, agent, request);
  request.environment["PWD"] = request.directory;
  request.environment["TMPDIR"] = request.home + "/tmp";

  RequireUtf8(request.server);
  RequireUtf8({request.project, request.control});
  RequireOutOfReach(agent, request, configuration, reach);
  CheckInstance(configuration, mounts, request.project, request.environment);
  const fs::path program = FindAgentProgram(agent, path, reach);
  if (::isatty(STDERR_FILENO) != 0) {
    std::cerr << "Starting " << agent.title << " for " << support::Printable(request.project)
              << " in the Lima instance " << instance << "...\n";
  }
  Start(agent, request, program);
}

}  // namespace commands
