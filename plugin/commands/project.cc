// SPDX-License-Identifier: Apache-2.0
#include "commands/project.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <system_error>

#include "lima/home.h"
#include "lima/mounts.h"
#include "lima/sandbox.h"
#include "paths/roots.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/foreground_child.h"
#include "support/join.h"
#include "support/paths.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/words.h"
#include "tools/tool_list.h"

namespace commands {
namespace {

using support::Format;

/// On a terminal, asks whether to create "agent" or "closed" if there is none.
void OfferInstance(const std::filesystem::path& lima_home, const std::string& name) {
  std::error_code unknown;
  const bool is_there = std::filesystem::exists(lima_home / name / "lima.yaml", unknown);
  const bool is_closed = name == lima::kClosedInstance;
  if ((name != kAgentInstance && !is_closed) || is_there || unknown) return;
  const auto is_wanted =
      AskUser(Format("There is no Lima instance \"{}\" in {}, a virtual machine for agents that "
                     "mounts nothing of this host{}.\nCreate it now? [Y/n] ",
                     name, lima_home.string(),
                     is_closed ? " and reaches only the sites that you allow" : ""),
              true);
  if (!is_wanted) return;
  if (!*is_wanted) throw support::Error("nothing was created");
  UseSafeSearchPath(name);
  const std::vector<std::string> command = lima::MountlessSandboxCommand(name);
  if (support::RunInForeground([&] { support::Become(command); }) == 0) return;
  throw support::Error("`{}` failed", shell::ShellCommand(command));
}

}  // namespace

const agents::Agent& FindAgent(std::string_view word, bool can_run) {
  for (const agents::Agent& agent : agents::Agents()) {
    const auto programs = support::Words(agent.programs);
    if (agent.name != word && std::ranges::find(programs, word) == programs.end()) continue;
    if (!can_run || agent.run) return agent;
    throw support::Error("{} is an editor, which `run` cannot start; see: limactl mcp configure {}",
                         agent.title, agent.name);
  }
  throw support::Error(
      "{} There are: {}; name one of them",
      word.empty() ? "which agent?"
                   : UnknownText("agent", std::string(word), OfferedWords(Offers::kAgents)),
      support::Join(OfferedWords(can_run ? Offers::kAgentsOfRun : Offers::kAgents)));
}

std::string NoteOnInstance(const std::string& instance, const std::string& project) try {
  if (project.empty()) {
    lima::RequireInstance(lima::HomeDirectory(), instance);
    return "";
  }
  const Instance loaded = LoadInstance(instance);
  const auto mounts = paths::RootsOfMounts(loaded.mounts);
  const std::string text = Format("the instance \"{}\" ", instance);
  if (const auto mount = paths::IndexByHostPath(mounts).Find(project)) {
    const paths::Root& found = mounts[mount->value];
    if (found.writable) return "";
    return Format("{}mounts {} read-only: the agent can change nothing there.", text, found.host);
  }
  const bool is_closed = loaded.configuration.closed();
  if (loaded.configuration.plain && !is_closed) {
    return Format("{}mounts nothing, since its configuration has plain: true; change that: {}",
                  text, lima::EditCommands(instance));
  }
  const std::string mount =
      lima::EditCommands(instance, " --mount-only " + shell::ShellQuote(project + ":w"));
  return Format("{}does not mount {}, so every call would be refused. {}", text, project,
                instance == kAgentInstance || is_closed
                    ? Format("Work in a copy: limactl mcp copy {}, "
                             "which prints the command of the server for it",
                             instance)
                    : Format("Mount it: {}", mount));
} catch (const support::Error& error) {
  return error.what();
}

exposure::GuestReach ReachOf(const std::string& instance) {
  try {
    const auto configuration = lima::LoadConfiguration(lima::HomeDirectory(), instance);
    return exposure::GuestReach(lima::ListMounts(configuration));
  } catch (const support::Error&) {
    return {};
  }
}

void UseSafeSearchPath(const std::string& instance) {
  copy::UseSafeSearchPathOfLima(ReachOf(instance));
}

void RequireUtf8(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (support::IsValidUtf8(word)) continue;
    throw support::Error("{} is not UTF-8, which the settings of agents must be; rename it", word);
  }
}

std::chrono::seconds CallTimeout(std::chrono::milliseconds command_timeout) {
  constexpr std::chrono::seconds kLonger = std::chrono::minutes(2);
  constexpr std::chrono::seconds kNoLimit = std::chrono::hours(24);
  if (command_timeout == std::chrono::milliseconds::zero()) return kNoLimit;
  return std::chrono::duration_cast<std::chrono::seconds>(command_timeout) + kLonger;
}

std::vector<std::string> ToolNames() {
  std::vector<std::string> names;
  for (const mcp::ToolDefinition& tool : tools::Definitions()) names.push_back(tool.name);
  return names;
}

std::optional<bool> AskUser(const std::string& question, bool by_default) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return std::nullopt;
  std::cerr << question << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer)) return std::nullopt;
  if (answer.empty()) return by_default;
  return answer == "y" || answer == "Y" || answer == "yes";
}

Instance LoadInstance(const std::string& name, bool offers, bool mountless) {
  if (offers) OfferInstance(lima::HomeDirectory(), name);
  return copy::LoadInstance(name, paths::HostPrograms(agents::ObeyedFiles()), mountless);
}

namespace {

std::string ReadName(const Parsed& parsed) {
  static const support::Regex names(R"([A-Za-z0-9][A-Za-z0-9._-]{0,39})");
  const auto& name = parsed["name"].as<std::string>();
  const bool is_name = names.FullMatch(name) && name.find("..") == std::string::npos &&
                       !name.ends_with('.') && !name.ends_with(".lock");
  if (is_name || name.empty()) return name;
  throw support::Error(
      "--name \"{}\": at most 40 letters, digits and \".\", \"_\", \"-\", as in a branch",
      support::Printable(name));
}

std::string ReadCopyDirectory(const Parsed& parsed) {
  const auto& text = parsed["copy-dir"].as<std::string>();
  const std::string directory = support::CleanPath(text);
  const bool fits =
      text.starts_with('/') && directory != "/" && text.find('\n') == std::string::npos;
  if (fits) return directory;
  throw support::Error("--copy-dir \"{}\": expected an absolute directory of the guest, not /",
                       text);
}

}  // namespace

copy::Choice ReadChoice(const Parsed& parsed) {
  copy::Choice choice{.name = ReadName(parsed)};
  if (parsed.count("project") > 0) choice.project = parsed["project"].as<std::string>();
  if (parsed.count("copy-dir") > 0) choice.directory = ReadCopyDirectory(parsed);
  return choice;
}

copy::SendOptions ReadSendOptions(const Parsed& parsed) {
  copy::SendOptions options;
  options.ask = [](const std::string& question) { return AskUser(question, false); };
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    if (option.key() == "include") options.include.push_back(option.value());
  }
  if (parsed.count("setup") == 0) return options;
  const auto& setup = parsed["setup"].as<std::string>();
  options.sets_up_again = setup == kAlone;
  if (!options.sets_up_again) options.setup = setup;
  return options;
}

std::uint64_t ReadMaxSize(const Parsed& parsed) {
  const auto& text = parsed["max-size"].as<std::string>();
  const auto bytes = support::ParseByteCount(text);
  if (bytes && *bytes > 0) return *bytes;
  throw support::Error("--max-size \"{}\": expected a size such as 500M or 4GiB", text);
}

}  // namespace commands
