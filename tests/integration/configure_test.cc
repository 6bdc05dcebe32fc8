// What configure writes for each agent, and what it prints.

#include <gmock/gmock.h>

#include "integration/configure_fixture.h"

namespace integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Configure, EveryAgentIsConfiguredOnceAndUndone) {
  for (const std::string& agent : kAgents) {
    EXPECT_THAT(Succeeds({agent}), AllOf(HasSubstr("wrote"), HasSubstr("--remove"))) << agent;
    const auto files = Files("project");
    EXPECT_FALSE(files.empty()) << agent;
    EXPECT_THAT(Succeeds({agent}), Not(HasSubstr("wrote"))) << agent;
    EXPECT_EQ(Files("project"), files) << agent;
    EXPECT_THAT(Succeeds({agent, "--remove"}), HasSubstr("removed")) << agent;
    EXPECT_TRUE(fs::is_empty(Path("project"))) << agent << ": directories too are gone";
    EXPECT_THAT(Succeeds({agent, "--remove"}), HasSubstr("not there")) << agent;
  }
  EXPECT_TRUE(fs::is_empty(Path("home"))) << "nothing else is touched, and nothing recorded";
}

TEST_F(Configure, ClaudesServerIsStoredInTheUsersOwnFileByTheGitRoot) {
  MakeDirectory("project/.git");
  working_directory_ = MakeDirectory("project/sub");
  MakeFile("home/.claude.json", "{\"theme\": \"dark\"}\n");
  EXPECT_THAT(Succeeds({"claude"}), AllOf(HasSubstr(Path("home/.claude.json").string()),
                                          HasSubstr("Safer: limactl mcp run claude agent")));
  EXPECT_FALSE(fs::exists(Path("project/sub/.mcp.json")));
  const auto settings = nlohmann::json::parse(ReadFile(Path("home/.claude.json")));
  EXPECT_TRUE(
      settings.at("projects").at(Path("project").string()).at("mcpServers").contains("lima"));
  Succeeds({"claude", "--remove"});
  EXPECT_EQ(ReadFile(Path("home/.claude.json")), "{\"theme\": \"dark\"}\n");
}

TEST_F(Configure, PrintShowsOnlyTheEntryOfTheUsersOwnFile) {
  MakeFile("home/.claude.json", "{\"token\": \"secret\"}\n");
  EXPECT_THAT(Succeeds({"claude", "--print"}),
              AllOf(HasSubstr("\"lima\": {"), HasSubstr("\"--root\""), Not(HasSubstr("secret"))));
}

TEST_F(Configure, RemoveIncludesWhatProjectWrote) {
  Succeeds({"claude", "--project"});
  EXPECT_TRUE(fs::exists(Path("project/.mcp.json")));
  Succeeds({"claude", "--remove"});
  EXPECT_TRUE(fs::is_empty(Path("project")));
}

// Also if `limactl mcp` runs another program, or there is no limactl.
TEST_F(Configure, PrintsACommandThatUndoesIt) {
  const std::string said = Succeeds({"claude", "--project"});
  const std::string label = "Undo with: ";
  const ProcessResult undone =
      RunProcess({.arguments = {"sh", "-c", said.substr(said.rfind(label) + label.size())},
                  .environment = {{"HOME", Path("home").string()},
                                  {"PATH", Path("bin").string() + ":/usr/bin:/bin"}},
                  .working_directory = Path("project")});
  EXPECT_EQ(undone.exit_code, 0) << undone.error;
  EXPECT_TRUE(fs::is_empty(Path("project")));
}

TEST_F(Configure, EveryAgentHasItsUsersOwnFiles) {
  for (const std::string& agent : kAgents) {
    Succeeds({agent, "--user"});
    const auto files = Files("home");
    EXPECT_FALSE(files.empty()) << agent;
    for (const auto& [name, text] : files) {
      EXPECT_EQ(ModeOf(Path("home/" + name)), 0600U) << name;
    }
    Succeeds({agent, "--user"});
    EXPECT_EQ(Files("home"), files) << agent;
    Succeeds({agent, "--user", "--remove"});
    EXPECT_THAT(Files("home"), IsEmpty()) << agent;
  }
  EXPECT_TRUE(fs::is_empty(Path("project"))) << "nothing outside the home is touched";
}

TEST_F(Configure, UsersDirectoriesComeFromTheAgentsVariables) {
  environment_["CODEX_HOME"] = Path("home/c");
  EXPECT_THAT(Succeeds({"codex", "--user"}), HasSubstr(Path("home/c/config.toml").string()));
  environment_["CLAUDE_CONFIG_DIR"] = Path("home/l");
  environment_["COPILOT_HOME"] = Path("home/p");
  environment_["GEMINI_CLI_HOME"] = Path("home/g");
  environment_["XDG_CONFIG_HOME"] = Path("home/x");
  for (const char* agent : {"claude", "copilot", "gemini", "opencode", "zed"}) {
    Succeeds({agent, "--user"});
  }
  for (const char* name :
       {"l/settings.json", "l/.claude.json", "p/mcp-config.json", "g/.gemini/settings.json",
        "x/opencode/opencode.json", "x/zed/settings.json"}) {
    EXPECT_EQ(Files("home").count(name), 1U) << name;
  }
  environment_["CODEX_HOME"] = "relative";
  EXPECT_THAT(Succeeds({"codex", "--user"}), HasSubstr(Path("home/.codex/config.toml").string()));
}

TEST_F(Configure, ASecondRunReplacesTheInstance) {
  for (const std::string& agent : kAgents) {
    Succeeds({agent, "--project"});
    const auto files = Files("project");
    Succeeds({agent, "another", "--project"});
    EXPECT_NE(Files("project"), files) << agent;
    Succeeds({agent, "--project"});
    EXPECT_EQ(Files("project"), files) << agent;
  }
}

TEST_F(Configure, ASecondRunKeepsWhatTheUserChangedInTheEntry) {
  for (const std::string& agent : kAgents) {
    Succeeds({agent, "agent", "--project", "--", "--command-timeout", "1h", "--allow-path=/tmp"});
    const auto files = Files("project");
    const bool found = std::any_of(files.begin(), files.end(), [](const auto& file) {
      return file.second.find("\"--command-timeout=1h\"") != std::string::npos &&
             file.second.find("\"--allow-path=/tmp\"") != std::string::npos;
    });
    EXPECT_TRUE(found) << agent;
    EXPECT_THAT(Succeeds({agent, "agent", "--project"}), Not(HasSubstr("wrote"))) << agent;
    EXPECT_EQ(Files("project"), files) << agent;
    const ProcessResult other = Run({agent, "another", "--project"});
    EXPECT_EQ(other.exit_code, 1) << agent;
    EXPECT_THAT(other.output, HasSubstr("\"another\""))
        << "the line to change, and what it must be";
    EXPECT_EQ(Files("project"), files) << agent;
    Succeeds({agent, "--project", "--remove"});
    EXPECT_TRUE(fs::is_empty(Path("project"))) << agent;
  }
}

TEST_F(Configure, ACopyIsTheOnlyRootAndASecondRunKeepsIt) {
  environment_["LIMA_HOME"] = MakeDirectory("lima");
  MakeFile("lima/agent/lima.yaml", "mounts: []\n");
  MakeDirectory("copied");
  const std::string option = "\"--copy=" + Path("copied").string() + "\"";
  for (const std::string& agent : kAgents) {
    EXPECT_THAT(Succeeds({agent, "agent", "--project", "--", "--copy", "../copied"}),
                AllOf(Not(HasSubstr("--root")), Not(HasSubstr("does not mount"))))
        << agent;
    const auto files = Files("project");
    std::string all;
    for (const auto& [name, text] : files) all += text;
    EXPECT_THAT(all, AllOf(HasSubstr(option), Not(HasSubstr("--root")))) << agent;
    EXPECT_THAT(Succeeds({agent, "agent", "--project"}),
                AllOf(Not(HasSubstr("wrote")), Not(HasSubstr("does not mount"))))
        << agent;
    EXPECT_EQ(Files("project"), files) << agent;
    Succeeds({agent, "--project", "--remove"});
    EXPECT_TRUE(fs::is_empty(Path("project"))) << agent;
  }
  EXPECT_THAT(Succeeds({"codex", "agent", "--", "--copy", "../copied"}),
              AllOf(HasSubstr(" serve agent --copy=" + Path("copied").string() + "\n"),
                    Not(HasSubstr("--root"))));
  EXPECT_THAT(FailsWithOneLine({"gemini", "agent", "--", "--copy", ".", "--root", "."}),
              HasSubstr("exclude each other"));
}

TEST_F(Configure, OptionsOfServeAreCheckedAndRaiseTheTimeout) {
  EXPECT_THAT(FailsWithOneLine({"gemini", "--", "--unknown"}), HasSubstr("unknown"));
  EXPECT_THAT(FailsWithOneLine({"gemini", "--", "--command-timeout", "x"}), HasSubstr("\"x\""));
  EXPECT_THAT(FailsWithOneLine({"gemini", "--", "word"}), HasSubstr("word"));
  Succeeds({"gemini"});
  Succeeds({"gemini", "agent", "--", "--command-timeout", "1h"});
  const auto settings = nlohmann::json::parse(ReadFile(Path("project/.gemini/settings.json")));
  EXPECT_EQ(settings.at("mcpServers").at("lima").at("timeout"), 62 * 60 * 1000);
  EXPECT_THAT(Succeeds({"codex", "--", "--start"}), HasSubstr("serve agent --start=true --root ."));
}

TEST_F(Configure, OnlyRemoveWithdrawsTrust) {
  for (const std::string& agent : kAgents) {
    Succeeds({agent, "--project"});
    const auto files = Files("project");
    Succeeds({agent, "--project", "--trust"});
    const auto trusted = Files("project");
    EXPECT_EQ(trusted == files, agent == "copilot" || agent == "vscode" || agent == "zed") << agent;
    Succeeds({agent, "another", "--project"});
    Succeeds({agent, "--project"});
    EXPECT_EQ(Files("project"), trusted) << agent;
    Succeeds({agent, "--project", "--remove"});
    EXPECT_TRUE(fs::is_empty(Path("project"))) << agent;
    Succeeds({agent, "--project"});
    EXPECT_EQ(Files("project"), files) << agent;
    Succeeds({agent, "--project", "--remove"});
  }
}

TEST_F(Configure, ValuesInTheWayAreNamedAndNothingIsWritten) {
  MakeFile("project/.gemini/settings.json",
           "{\n  \"tools\": {\"core\": [\"\u202e\"]},\n"
           "  \"agents\": {\"overrides\": {\"codebase_investigator\": {\"enabled\": true}}}\n}\n");
  MakeFile("project/.vscode/settings.json", "{\"chat.newSession.defaultMode\": \"ask\"}\n");
  const auto before = Files("project");
  const std::string file = Path("project/.gemini/settings.json").string();
  const ProcessResult result = Run({"gemini"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr(file + ":2:22: \"tools.core\" must not have \"\\xe2\\x80\\xae\": "),
                    HasSubstr(file + ":3:65: \"agents.overrides.codebase_investigator.enabled\" "
                                     "must be false: ")));
  EXPECT_THAT(result.error, HasSubstr("nothing was written"));
  EXPECT_THAT(FailsWithOneLine({"vscode"}), HasSubstr("nothing was written"));
  EXPECT_EQ(Files("project"), before) << "lima.agent.md must not be written either";
}

TEST_F(Configure, RemovePrintsEachValueThatItTakesAway) {
  Succeeds({"opencode"});
  EXPECT_THAT(Succeeds({"opencode", "--remove"}),
              AllOf(HasSubstr("removed    opencode.json\n"),
                    HasSubstr("    without permission.**: \"deny\"\n"),
                    HasSubstr("    without mcp.lima: {\"type\":\"local\",")));
}

TEST_F(Configure, CodexIsConfiguredByHand) {
  environment_["LIMA_HOME"] = MakeDirectory("my lima");
  MakeFile("project/.codex/config.toml", "model = 'x'\n");
  const std::string file = Path("project/.codex/config.toml").string();
  const std::string program = fs::canonical(ServerProgram()).string();
  EXPECT_THAT(Succeeds({"codex", "agent", "--trust"}),
              AllOf(HasSubstr("codex mcp add lima --env 'LIMA_HOME=" + Path("my lima").string() +
                              "' -- " + program + " serve agent --root .\n"),
                    HasSubstr("Add these lines to " + file),
                    HasSubstr("\n\nsandbox_mode = \"read-only\"\n\n[features]\n"),
                    HasSubstr("\ndefault_tools_approval_mode = \"approve\"\n\n")));
  EXPECT_THAT(Succeeds({"codex"}), Not(HasSubstr("approve")));
  EXPECT_THAT(Succeeds({"codex", "--remove"}),
              AllOf(HasSubstr("codex mcp remove lima\n"),
                    HasSubstr("Delete these lines from " + file), HasSubstr("approve")));
  EXPECT_EQ(ReadFile(file), "model = 'x'\n");
  EXPECT_TRUE(fs::is_empty(Path("home")));
}

TEST_F(Configure, RemoveLeavesWhatWasNeverConfigured) {
  MakeFile("project/.claude/settings.local.json", "{\"permissions\": {\"deny\": [\"Bash\"]}}\n");
  MakeFile("project/opencode.json", "{\"permission\": {\"bash\": \"deny\"}}\n");
  const auto before = Files("project");
  for (const std::string& agent : kAgents) Succeeds({agent, "--project", "--remove"});
  EXPECT_EQ(Files("project"), before);
}

TEST_F(Configure, PrintWritesNothing) {
  MakeFile("project/.mcp.json", "{\"mine\": 1}\n");
  const auto before = Files("project");
  EXPECT_THAT(Succeeds({"claude", "--project", "--print"}),
              AllOf(HasSubstr("==> .claude/settings.local.json (new)\n{\n"),
                    HasSubstr("==> .mcp.json (changed)\n{\"mine\": 1, \"mcpServers\"")));
  EXPECT_EQ(Files("project"), before);
}

TEST_F(Configure, WhatIsPrintedCannotDriveTheTerminal) {
  MakeFile("project/.mcp.json", "{\n\t\"mine\": \"\u202e\" // \x1b[2J\n}\n");
  EXPECT_THAT(
      Succeeds({"claude", "--project", "--print"}),
      AllOf(HasSubstr("{\n\t\"mine\": \"\\xe2\\x80\\xae\", // \\x1b[2J"), Not(HasSubstr("\x1b"))));
}

TEST_F(Configure, RefusesTheHomeAndTheRootDirectory) {
  working_directory_ = Path("home");
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("--user"));
  working_directory_ = "/";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("--user"));
}

TEST_F(Configure, LimactlStartsTheServerIfItRunsThisProgram) {
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"command\": \"" + fs::canonical(ServerProgram()).string() + "\""))
      << "no limactl on PATH";
  MakeProgram("bin/limactl");
  MakeLink("bin/limactl-mcp", fs::canonical(ServerProgram()));
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"command\": \"limactl\""));
  environment_["PATH"] = "relative:" + Path("bin").string() + ":/usr/bin:/bin";
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"command\": \"" + Path("bin/limactl-mcp").string() + "\""))
      << "the agent would look for limactl in the project first";
  environment_.erase("PATH");
  fs::remove(Path("bin/limactl-mcp"));
  MakeProgram("bin/limactl-mcp");
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"command\": \"" + fs::canonical(ServerProgram()).string() + "\""))
      << "another program of that name would win";
}

TEST_F(Configure, LimaHomeIsPassedOn) {
  environment_["LIMA_HOME"] = MakeDirectory("my lima");
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"LIMA_HOME\": \"" + Path("my lima").string() + "\""));
}

TEST_F(Configure, NotesWhatTheInstanceLacks) {
  environment_["LIMA_HOME"] = MakeDirectory("lima");
  const auto note = [&](const std::string& yaml) {
    MakeFile("lima/agent/lima.yaml", yaml);
    const std::string output = Succeeds({"opencode"});
    const std::size_t begin = output.find("Note: ");
    return begin == std::string::npos ? "" : output.substr(begin, output.find('\n', begin) - begin);
  };
  const std::string project = Path("project").string();
  EXPECT_EQ(note("mounts: [{location: " + Path().string() + ", writable: true}]\n"), "");
  EXPECT_EQ(note("mounts: [{location: " + project + ", mountPoint: /p, writable: true}]\n"), "");
  EXPECT_THAT(note("mounts: [{location: " + project + "}]\n"), HasSubstr("read-only"));
  EXPECT_THAT(note("mounts: [{location: /elsewhere, writable: true}]\n"),
              AllOf(HasSubstr("does not mount " + project + ","), HasSubstr("limactl mcp copy")));
  MakeFile("lima/other/lima.yaml", "mounts: []\n");
  EXPECT_THAT(Succeeds({"opencode", "other"}),
              HasSubstr("limactl edit other --start --mount-only " + project + ":w`"));
  Succeeds({"opencode", "--remove"});
  EXPECT_THAT(note("plain: true\n"), HasSubstr("plain: true"));
  EXPECT_THAT(note("mounts: [\n"), HasSubstr("lima.yaml"));
  fs::remove_all(Path("lima/agent"));
  EXPECT_THAT(Succeeds({"opencode", "agent"}),
              AllOf(HasSubstr("no Lima instance \"agent\""),
                    HasSubstr("limactl start --tty=false --name agent --mount-none ")));
  environment_.erase("LIMA_HOME");
  MakeLink("home/.lima", ".lima");
  EXPECT_THAT(Succeeds({"opencode"}),
              AllOf(HasSubstr("Note: cannot use Lima's home"), HasSubstr("Undo with: ")));
}

TEST_F(Configure, MarksInstalledAgents) {
  MakeProgram("bin/opencode");
  MakeProgram("bin/codex");
  const std::string list = Succeeds({});
  EXPECT_THAT(list, StartsWith("  claude    Claude Code\n"
                               "  codex     Codex (found on this machine)\n"));
  EXPECT_THAT(list, HasSubstr("  opencode  opencode (found on this machine)\n"));
  for (const std::string& agent : kAgents) EXPECT_THAT(list, HasSubstr("  " + agent + " "));
}

TEST_F(Configure, UsageErrorsAreOneLine) {
  EXPECT_THAT(FailsWithOneLine({"emacs"}), AllOf(HasSubstr("emacs"), HasSubstr("opencode")));
  EXPECT_THAT(FailsWithOneLine({"gemini", "../x"}), HasSubstr("../x"));
  EXPECT_THAT(FailsWithOneLine({"gemini", "a", "b"}), HasSubstr("b"));
  EXPECT_THAT(FailsWithOneLine({"--user"}), HasSubstr("which agent"));
  EXPECT_THAT(FailsWithOneLine({"gemini", "--remove", "--trust"}), HasSubstr("--trust"));
  EXPECT_THAT(FailsWithOneLine({"claude", "--project", "--user"}), HasSubstr("exclude each other"));
  environment_["HOME"] = "relative";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("HOME must be set"));
  environment_.erase("HOME");
  environment_["LIMA_HOME"] = "/nowhere/\xff";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("/nowhere/\\xff is not UTF-8"));
  environment_["LIMA_HOME"] = "relative";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("relative"));
}

TEST_F(Configure, UsesCopilotsOtherFileIfItExists) {
  MakeFile("project/.mcp.json", "{\"mcpServers\": {\"mine\": {\"command\": \"x\"}}}\n");
  EXPECT_THAT(Succeeds({"copilot"}), HasSubstr("copilot --available-tools=lima\n"));
  EXPECT_FALSE(fs::exists(Path("project/.github")));
  EXPECT_THAT(ReadFile(Path("project/.mcp.json")),
              AllOf(HasSubstr("\"mine\""), HasSubstr("\"lima\"")));
  EXPECT_THAT(Succeeds({"copilot", "--trust"}), HasSubstr("=lima --allow-tool=lima\n"));
  Succeeds({"copilot", "--remove"});
  EXPECT_EQ(ReadFile(Path("project/.mcp.json")),
            "{\"mcpServers\": {\"mine\": {\"command\": \"x\"}}}\n");
}

TEST_F(Configure, UsesOpencodesOtherFileIfItExists) {
  MakeFile("project/opencode.jsonc", "{\n  // mine\n}\n");
  Succeeds({"opencode"});
  EXPECT_FALSE(fs::exists(Path("project/opencode.json")));
  EXPECT_THAT(ReadFile(Path("project/opencode.jsonc")),
              AllOf(HasSubstr("// mine"), HasSubstr("\"lima\"")));
  Succeeds({"opencode", "--remove"});
  EXPECT_EQ(ReadFile(Path("project/opencode.jsonc")), "{\n  // mine\n}\n");
}

}  // namespace
}  // namespace integration
