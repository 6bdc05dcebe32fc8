// `limactl mcp run` on a mount, with scripts in place of the agents. tests/clients/agents has the
// real ones.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_support::ProcessResult;
using Words = std::vector<std::string>;

class Run : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("project");
    MakeDirectory("home");
    MakeAgent("bin/claude", "2.1.330 (Claude Code)");
    testing_support::LoopbackInstance::Options options;
    options.name = "agent";
    options.mounts = {{Path("project").string(), "", true}};
    StartInstance(options);
  }

  /// Prints its directory, its arguments and its environment, and exits with 7.
  void MakeAgent(const std::string& name, const std::string& version) {
    MakeProgram(name, "[ \"$1\" != --version ] || { echo '" + version +
                          "'; exit 0; }\n"
                          "pwd; printf '%s\\n' \"$@\"; /usr/bin/env; exit 7\n");
  }

  ProcessResult RunIn(const fs::path& directory, const Words& arguments) {
    Words words = {"run"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    testing_support::ChildProcess::Options options = ServerOptions(words);
    options.environment["HOME"] = Path("home").string();
    options.environment["PATH"] = path_.empty() ? Path("bin").string() + ":/usr/bin:/bin" : path_;
    options.environment["XDG_STATE_HOME"] = std::nullopt;
    options.environment["BASH_ENV"] = "x";
    for (const auto& [name, value] : environment_) options.environment[name] = value;
    options.working_directory = directory;
    return RunProcess(options);
  }
  ProcessResult RunAgent(const Words& arguments) { return RunIn(Path("project"), arguments); }
  std::string Refusal(const Words& arguments) {
    const ProcessResult result = RunAgent(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }

  /// A session with one line of warning.
  std::string Warning(const Words& arguments = {"claude"}) {
    const ProcessResult result = RunAgent(arguments);
    EXPECT_EQ(result.exit_code, 7) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }

  std::string path_;
  std::map<std::string, std::string> environment_;
};

TEST_F(Run, StartsTheAgentInADirectoryOfItsOwn) {
  const ProcessResult result = RunAgent({"claude", "--trust", "--", "-p", "do it"});
  EXPECT_EQ(result.exit_code, 7) << result.error;
  EXPECT_EQ(result.error, "");
  const Words lines = LinesOf(result.output);
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), AllOf(StartsWith(Path("home/.local/state/limactl-mcp/run").string()),
                                   ::testing::EndsWith("/work/project")));
  EXPECT_THAT(lines, AllOf(Contains("-p"), Contains("do it"), Contains("--strict-mcp-config")));
  EXPECT_THAT(lines, Not(Contains("BASH_ENV=x")));
  EXPECT_TRUE(fs::is_empty(Path("project"))) << "nothing is written into the project";
}

TEST_F(Run, PassesTheOptionsOfServeOn) {
  RunAgent({"claude", "--command-timeout", "30m", "--allow-path=/tmp:w", "--start"});
  const auto directory = fs::directory_iterator(Path("home/.local/state/limactl-mcp/run/claude"));
  for (const auto& entry : fs::recursive_directory_iterator(directory->path())) {
    if (entry.path().filename() != "mcp.json") continue;
    const auto server = nlohmann::json::parse(ReadFile(entry.path())).at("mcpServers").at("lima");
    EXPECT_EQ(server.at("args"),
              nlohmann::json({"serve", "agent", "--command-timeout=30m", "--allow-path=/tmp:w",
                              "--start=true", "--root", Path("project").string()}));
    EXPECT_EQ(server.at("timeout"), 32 * 60 * 1000) << "longer than a command may run";
    EXPECT_EQ(server.at("env").at("LIMA_HOME"), LimaHome().string());
    return;
  }
  ADD_FAILURE() << "no mcp.json";
}

TEST_F(Run, RefusesAnUnknownAgentAndListsTheKnown) {
  EXPECT_THAT(Refusal({"emacs"}), HasSubstr("claude, codex, copilot, gemini, opencode"));
  EXPECT_THAT(Refusal({}), HasSubstr("claude, codex, copilot, gemini, opencode"));
  EXPECT_THAT(Refusal({"cursor"}), HasSubstr("configure"));
}

TEST_F(Run, RefusesAnAgentThatIsNotInstalledOrTooOld) {
  EXPECT_THAT(Refusal({"codex"}), HasSubstr("npm install -g @openai/codex"));
  MakeAgent("bin/claude", "2.0.0 (Claude Code)");
  EXPECT_THAT(Refusal({"claude"}), AllOf(HasSubstr("Claude Code 2.0.0"), HasSubstr("2.1.330"),
                                         HasSubstr("claude update")));
  MakeAgent("bin/claude", "no version");
  EXPECT_THAT(Refusal({"claude"}), HasSubstr("of an unknown version"));
}

TEST_F(Run, ChecksTheVersionThatItStarts) {
  const std::string cached =
      "case \"$*\" in *--no-auto-update*) echo 1.0.0 ;; *) echo 9.0.0 ;; esac";
  MakeProgram("bin/copilot", cached + "\n");
  EXPECT_THAT(Refusal({"copilot"}), AllOf(HasSubstr("Copilot CLI 1.0.0"),
                                          HasSubstr("curl -fsSL https://gh.io/copilot-install")));
}

TEST_F(Run, RefusesArgumentsThatUndoTheConfinement) {
  EXPECT_THAT(Refusal({"claude", "--", "--dangerously-skip-permissions"}),
              AllOf(HasSubstr("--dangerously-skip-permissions"), HasSubstr("--trust")));
}

TEST_F(Run, RefusesWhatIsNeitherMountedNorARepository) {
  const ProcessResult result = RunIn(MakeDirectory("elsewhere"), {"claude"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("elsewhere is not in a git repository: git init"));
  EXPECT_THAT(Refusal({"claude", "absent"}),
              AllOf(HasSubstr("no Lima instance \"absent\""), HasSubstr("are: agent")));
}

TEST_F(Run, RefusesTheHomeDirectory) {
  const ProcessResult result = RunIn(Path("home"), {"claude"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("is your home directory; run this inside a project"));
}

TEST_F(Run, RefusesAnInstanceThatMountsItsSettingsWritable) {
  testing_support::LoopbackInstance::Options options;
  options.name = "wide";
  options.mounts = {{Path("home").string(), "", true}, {Path("project").string(), "", true}};
  StartInstance(options);
  EXPECT_THAT(
      Refusal({"claude", "wide"}),
      AllOf(HasSubstr(Path("home").string()), HasSubstr("writable"), HasSubstr("agent-sandbox")));
  options.name = "own";
  options.mounts.front().location = MakeDirectory("home/.claude").string();
  StartInstance(options);
  EXPECT_THAT(Refusal({"claude", "own"}), HasSubstr("your settings of Claude Code"));
}

TEST_F(Run, TakesNoProgramThatTheGuestCanWrite) {
  MakeAgent("project/node_modules/.bin/claude", "2.1.330 (Claude Code)");
  path_ = Path("project/node_modules/.bin").string() + ":.:" + "/usr/bin:/bin";
  EXPECT_THAT(Refusal({"claude"}), HasSubstr("outside the project"));
  path_ = Path("project/node_modules/.bin").string() + ":relative:" + Path("bin").string() +
          ":/usr/bin:/bin";
  const ProcessResult result = RunAgent({"claude"});
  EXPECT_EQ(result.exit_code, 7) << result.error;
  EXPECT_THAT(LinesOf(result.output), Contains("PATH=" + Path("bin").string() + ":/usr/bin:/bin"));
  fs::remove(Path("bin/claude"));
  MakeLink("bin/claude", Path("project/node_modules/.bin/claude"));
  EXPECT_THAT(Refusal({"claude"}), HasSubstr("which the guest can write"));
}

TEST_F(Run, RefusesSettingsThatAreLinksIntoTheMount) {
  const fs::path target = MakeFile("project/dotfiles/settings.json", "{}");
  const std::vector<std::string> links = {"home/.claude/settings.json",
                                          "home/.claude/skills/x/SKILL.md", "lima/agent/extra.yaml",
                                          "lima/_config/override.yaml"};
  for (const std::string& link : links) {
    fs::create_directories(Path(link).parent_path());
    MakeLink(link, target);
    EXPECT_THAT(Refusal({"claude"}),
                AllOf(HasSubstr("the guest could change"), HasSubstr(Path(link).string()),
                      HasSubstr("Replace the link")));
    fs::remove(Path(link));
  }
  MakeDirectory("elsewhere");
  MakeLink("project/way", Path("elsewhere"));
  MakeLink(links[0], Path("project/way/settings.json"));
  EXPECT_THAT(Refusal({"claude"}), HasSubstr(links[0])) << "the guest can change the way";
}

TEST_F(Run, WarnsOfLinksInTheHomeThatLeadIntoTheMount) {
  MakeDirectory("home/.local/bin");
  MakeLink("home/.bashrc", Path("project/dotfiles/bashrc"));
  MakeLink("home/.local/bin/tool", Path("project/tool"));
  MakeLink("home/.profile", "/etc/profile");
  EXPECT_THAT(Warning(),
              AllOf(HasSubstr(Path("home/.bashrc").string()),
                    HasSubstr(Path("home/.local/bin/tool").string()), Not(HasSubstr(".profile"))));
}

TEST_F(Run, DropsVariablesThatNameFilesInTheMount) {
  const std::string project = Path("project").string();
  environment_ = {{"AWS_CONFIG_FILE", project + "/aws"},
                  {"EDITOR", "vim -u " + project + "/rc"},
                  {"LD_LIBRARY_PATH", "/usr/lib:" + project},
                  {"TMPDIR", project + "/tmp"},
                  {"LANG", "C"}};
  const ProcessResult result = RunAgent({"claude"});
  EXPECT_EQ(result.exit_code, 7) << result.error;
  EXPECT_THAT(result.error, HasSubstr("AWS_CONFIG_FILE, EDITOR, LD_LIBRARY_PATH, TMPDIR\n"));
  const Words lines = LinesOf(result.output);
  EXPECT_THAT(lines, Contains("LANG=C"));
  const std::string own = Path("home/.local/state/limactl-mcp/run").string();
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("TMPDIR=" + own), ::testing::EndsWith("/tmp"))));
  for (const char* name : {"AWS_CONFIG_FILE=", "EDITOR=", "LD_LIBRARY_PATH="}) {
    EXPECT_THAT(lines, Not(Contains(StartsWith(name))));
  }
}

TEST_F(Run, RefusesReverseSshfs) {
  testing_support::LoopbackInstance::Options options;
  options.name = "sshfs";
  options.mounts = {{Path("project").string(), "", true}};
  options.lima_yaml = "mountType: reverse-sshfs\n";
  StartInstance(options);
  EXPECT_THAT(Refusal({"claude", "sshfs"}), HasSubstr("reverse-sshfs"));
}

TEST_F(Run, CountsWhatQemusVirtiofsMountsReadOnlyAsWritable) {
  testing_support::LoopbackInstance::Options options;
  options.name = "virtiofs";
  options.mounts = {{Path("project").string(), "", true},
                    {MakeDirectory("home/.claude"), "", false}};
  StartInstance(options);
  EXPECT_THAT(Warning({"claude", "virtiofs"}),
              HasSubstr("can read " + Path("home/.claude").string()));
  options.lima_yaml = "mountType: virtiofs\n";
  StartInstance(options);
  EXPECT_THAT(Refusal({"claude", "virtiofs"}), HasSubstr("your settings of Claude Code"));
}

TEST_F(Run, WarnsOfWhatTheGuestCanReach) {
  testing_support::LoopbackInstance::Options options;
  options.name = "open";
  options.mounts = {{Path("home").string(), "", false}, {Path("project").string(), "", true}};
  options.lima_yaml = "ssh: {forwardAgent: true}\n";
  StartInstance(options);
  EXPECT_THAT(Warning({"claude", "open"}),
              AllOf(HasSubstr("your home directory"), HasSubstr("forwardAgent"),
                    HasSubstr("--mount-only \"$PWD:w\"")));
}

TEST_F(Run, RefusesFilesOfLimaThatAreNewerThanTheVirtualMachine) {
  for (const char* name : {"lima/agent/lima.yaml", "lima/_config/override.yaml"}) {
    if (!fs::exists(Path(name))) MakeFile(name, "{}\n");
    const auto old = fs::last_write_time(Path("lima/agent/ha.pid"));
    fs::last_write_time(Path(name), old + std::chrono::seconds(1));
    EXPECT_THAT(Refusal({"claude"}), AllOf(HasSubstr(name), HasSubstr("limactl stop agent")));
    fs::last_write_time(Path(name), old);
  }
  EXPECT_EQ(RunAgent({"claude"}).exit_code, 7);
}

TEST_F(Run, ServeStartsNoLimactlThatTheGuestCanWrite) {
  MakeProgram("project/limactl");
  MakeLink("bin/limactl", Path("project/limactl"));
  auto options = ServerOptions({"serve", "agent", "--start"});
  options.environment["PATH"] = "relative:" + Path("bin").string() + ":/usr/bin:/bin";
  const ProcessResult result = RunProcess(options);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("bin/limactl lies in " + Path("project").string()));
}

TEST_F(Run, HelpForAnAgentListsItsArguments) {
  EXPECT_THAT(RunAgent({"codex", "--help"}).output,
              AllOf(HasSubstr("After --, Codex gets:\n"), HasSubstr("--skip-git-repo-check"),
                    HasSubstr("-c --config"), Not(HasSubstr("opencode"))));
  EXPECT_THAT(RunAgent({"--help"}).output, Not(HasSubstr("After --")));
  const std::string help = RunAgent({"claude", "--help"}).output;
  EXPECT_EQ(help.find("--fork-session"), help.rfind("--fork-session"));
}

TEST_F(Run, SaysHowToUpdateAnAgent) {
  MakeAgent("lib/node_modules/x/claude", "2.0.0 (Claude Code)");
  fs::remove(Path("bin/claude"));
  MakeLink("bin/claude", Path("lib/node_modules/x/claude"));
  EXPECT_THAT(Refusal({"claude"}),
              HasSubstr("Update it: npm install -g @anthropic-ai/claude-code@latest"));
}

}  // namespace
}  // namespace integration
