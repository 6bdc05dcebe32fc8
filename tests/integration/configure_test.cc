// `limactl mcp configure` as a user runs it, in a project and a home of the test's own.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testing_support::ChildProcess;
using testing_support::ProcessResult;
using testing_support::RunProcess;
using Words = std::vector<std::string>;

const Words kAgents = {"claude", "codex", "cursor", "gemini", "opencode", "vscode", "zed"};

class Configure : public IntegrationTest {
 protected:
  Configure() {
    MakeDirectory("home");
    MakeDirectory("project");
    MakeDirectory("bin");
  }

  ProcessResult Run(const Words& arguments) {
    Words words = {ServerProgram(), "configure"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ChildProcess::Options options{.arguments = words, .environment = environment_};
    options.environment.try_emplace("HOME", Path("home").string());
    options.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
    for (const char* name :
         {"LIMA_HOME", "XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"}) {
      options.environment.try_emplace(name, std::nullopt);
    }
    options.working_directory = working_directory_.empty() ? Path("project") : working_directory_;
    return RunProcess(options);
  }
  std::string Succeeds(const Words& arguments) {
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return result.output;
  }
  std::string FailsWithOneLine(const Words& arguments) {
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }

  /// Every file below a directory of the test, with its text.
  std::map<std::string, std::string> Files(const std::string& directory) {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(Path(directory))) {
      if (entry.is_regular_file()) {
        files[fs::relative(entry.path(), Path(directory))] = ReadFile(entry.path());
      }
    }
    return files;
  }

  std::map<std::string, std::optional<std::string>> environment_;
  fs::path working_directory_;
};

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
  EXPECT_TRUE(fs::is_empty(Path("home"))) << "nothing outside the project is touched";
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

TEST_F(Configure, UsersDirectoriesAreThoseThatTheAgentsAreTold) {
  environment_["CODEX_HOME"] = Path("home/c");
  environment_["CLAUDE_CONFIG_DIR"] = Path("home/l");
  environment_["GEMINI_CLI_HOME"] = Path("home/g");
  environment_["XDG_CONFIG_HOME"] = Path("home/x");
  for (const char* agent : {"codex", "claude", "gemini", "opencode", "zed"}) {
    Succeeds({agent, "--user"});
  }
  for (const char* name :
       {"c/config.toml", "l/settings.json", "l/.claude.json", "g/.gemini/settings.json",
        "x/opencode/opencode.json", "x/zed/settings.json"}) {
    EXPECT_EQ(Files("home").count(name), 1U) << name;
  }
}

TEST_F(Configure, RelativeDirectoriesOfTheUsersSettingsAreRefused) {
  environment_["CODEX_HOME"] = "c";
  environment_["XDG_CONFIG_HOME"] = "x";
  EXPECT_THAT(FailsWithOneLine({"codex", "--user"}),
              AllOf(HasSubstr("c/config.toml is a relative path"), HasSubstr("CODEX_HOME")));
  EXPECT_THAT(FailsWithOneLine({"zed", "--user"}), HasSubstr("x/zed/settings.json"));
  EXPECT_THAT(Files("home"), IsEmpty());
  Succeeds({"codex"});
  Succeeds({"claude", "--user"});
}

TEST_F(Configure, MergesIntoWhatIsThere) {
  const std::string before =
      "{\n    // mine\n    \"theme\": \"dark\", // why\n    \"tools\": {"
      " \"exclude\": [ \"ShellTool\" ] },\n}\n";
  MakeFile("project/.gemini/settings.json", before);
  fs::permissions(Path("project/.gemini/settings.json"), fs::perms(0640));
  Succeeds({"gemini", "agent"});
  const std::string after = ReadFile(Path("project/.gemini/settings.json"));
  EXPECT_THAT(after, AllOf(HasSubstr("    // mine\n    \"theme\": \"dark\", // why\n"),
                           HasSubstr("\"agent\", \"--root\", \".\""), HasSubstr("RipGrepTool")));
  EXPECT_EQ(ModeOf(Path("project/.gemini/settings.json")), 0640U);
  Succeeds({"gemini", "--remove"});
  EXPECT_EQ(ReadFile(Path("project/.gemini/settings.json")), before);
  EXPECT_EQ(ModeOf(Path("project/.gemini/settings.json")), 0640U);
}

TEST_F(Configure, AFileThatCannotBeReadLeavesAllAlone) {
  MakeFile("project/.mcp.json", "{\n  \"mcpServers\": {]\n}\n");
  const auto before = Files("project");
  EXPECT_THAT(FailsWithOneLine({"claude"}), HasSubstr("/project/.mcp.json:2:18: "));
  EXPECT_THAT(FailsWithOneLine({"claude", "--remove"}), HasSubstr("/project/.mcp.json:2:18: "));
  EXPECT_EQ(Files("project"), before) << ".claude/settings.json must not be written either";
  MakeFile("project/.codex/config.toml", "a = 1\nb = =\n");
  EXPECT_THAT(FailsWithOneLine({"codex"}), HasSubstr("/project/.codex/config.toml:2:"));
  EXPECT_EQ(ReadFile(Path("project/.codex/config.toml")), "a = 1\nb = =\n");
}

/// Where each agent's own settings begin, so that its containers can be there and be empty.
const char* kAllEmpty =
    "{\n  \"mcpServers\": {},\n  \"servers\": { },\n  \"mcp\": {\n  },\n  \"context_servers\": "
    "{},\n"
    "  \"tools\": {\"exclude\": []}, \"permission\": {},\n  \"permissions\": {\n    \"allow\": "
    "[],\n"
    "    \"deny\": [\n    ]\n  },\n  \"hooks\": {\"preToolUse\": [ ]}, \"version\": 1\n}";

TEST_F(Configure, RemoveGivesBackEveryByteOfAFileThatWasThere) {
  const std::map<std::string, Words> files = {
      {"claude", {".claude/settings.json", ".mcp.json"}},
      {"cursor", {".cursor/hooks.json", ".cursor/cli.json", ".cursor/mcp.json"}},
      {"gemini", {".gemini/settings.json"}},
      {"opencode", {"opencode.json"}},
      {"vscode", {".vscode/settings.json", ".vscode/mcp.json"}},
      {"zed", {".zed/settings.json"}}};
  const Words texts = {"",
                       "  \n\n",
                       "\xEF\xBB\xBF",
                       "{}",
                       "{ }\n",
                       "{\r\n}\r\n",
                       "\xEF\xBB\xBF{\n\n}\n",
                       "{/* a */}",
                       "{\"permissions\": {\"deny\": [\"Shell(rm)\"]}}\n",
                       "{\n  // mine\n}\n",
                       "{\r\n\t\"version\": 1, // one\r\n\t\"a\": [ 1,2 ],\r\n}",
                       kAllEmpty};
  for (const auto& [agent, names] : files) {
    for (const std::string& name : names) {
      for (const std::string& text : texts) {
        MakeFile("project/" + name, text);
        fs::permissions(Path("project/" + name), fs::perms(0640));
        Succeeds({agent});
        const auto once = Files("project");
        EXPECT_NE(once.at(name), text) << name;
        Succeeds({agent});
        EXPECT_EQ(Files("project"), once) << name << ": " << text;
        Succeeds({agent, "--remove"});
        EXPECT_THAT(Files("project"), ::testing::ElementsAre(::testing::Pair(name, text)));
        EXPECT_EQ(ModeOf(Path("project/" + name)), 0640U);
        fs::remove(Path("project/" + name));
      }
    }
  }
}

TEST_F(Configure, RemoveGivesBackEveryByteOfAConfigurationOfCodex) {
  for (const std::string text :
       {"", "\n", "\xEF\xBB\xBF", "# mine", "a = 1", "[tui]", "[features] # mine\n",
        "a = 1\r\n[b]\r\nc = 2", "[features]\n\n[mcp_servers.x]\ncommand = 'y'\n\n\n",
        "sandbox_mode = 'read-only'\n[features]\nshell_tool = true # mine"}) {
    MakeFile("project/.codex/config.toml", text);
    Succeeds({"codex"});
    const auto once = Files("project");
    Succeeds({"codex"});
    EXPECT_EQ(Files("project"), once) << text;
    Succeeds({"codex", "--remove"});
    EXPECT_THAT(Files("project"),
                ::testing::ElementsAre(::testing::Pair(".codex/config.toml", text)));
  }
}

TEST_F(Configure, WhatWasNeverConfiguredIsNotTakenAway) {
  MakeFile("project/.claude/settings.json", "{\"permissions\": {\"deny\": [\"Bash\"]}}\n");
  MakeFile("project/opencode.json", "{\"permission\": {\"bash\": \"deny\"}}\n");
  const auto before = Files("project");
  for (const std::string& agent : kAgents) Succeeds({agent, "--remove"});
  EXPECT_EQ(Files("project"), before);
}

TEST_F(Configure, UsersOwnTrustStaysTheFirstTime) {
  MakeFile("project/.claude/settings.json", "{\"permissions\": {\"allow\": [\"mcp__lima\"]}}\n");
  Succeeds({"claude"});
  EXPECT_THAT(ReadFile(Path("project/.claude/settings.json")), HasSubstr("mcp__lima"));
}

TEST_F(Configure, PrintOnlyShows) {
  MakeFile("project/.mcp.json", "{\"mine\": 1}\n");
  const auto before = Files("project");
  EXPECT_THAT(Succeeds({"claude", "--print"}),
              AllOf(HasSubstr("==> .claude/settings.json (new)\n{\n"),
                    HasSubstr("==> .mcp.json (changed)\n{\"mine\": 1, \"mcpServers\"")));
  EXPECT_EQ(Files("project"), before);
}

TEST_F(Configure, WhatIsPrintedCannotDriveTheTerminal) {
  MakeFile("project/.mcp.json", "{\n\t\"mine\": \"\u202e\" // \x1b[2J\n}\n");
  EXPECT_THAT(
      Succeeds({"claude", "--print"}),
      AllOf(HasSubstr("{\n\t\"mine\": \"\\xe2\\x80\\xae\", // \\x1b[2J"), Not(HasSubstr("\x1b"))));
}

TEST_F(Configure, LinksAreFollowedAndStay) {
  const fs::path dotfile = MakeFile("dotfiles/gemini.json", "{}\n");
  fs::create_directories(Path("home/.gemini"));
  const fs::path link = MakeLink("home/.gemini/settings.json", dotfile);
  EXPECT_THAT(Succeeds({"gemini", "--user"}), HasSubstr("-> " + dotfile.string()));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(ReadFile(dotfile), HasSubstr("mcpServers"));
  Succeeds({"gemini", "--user", "--remove"});
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(ReadFile(dotfile), "{}\n");
}

TEST_F(Configure, TheTargetOfALinkCannotDriveTheTerminal) {
  MakeFile("project/\x1b[2J.json", "{}\n");
  MakeLink("project/.mcp.json", "\x1b[2J.json");
  EXPECT_THAT(Succeeds({"claude"}),
              AllOf(HasSubstr(" -> " + Path("project").string() + "/\\x1b[2J.json\n"),
                    Not(HasSubstr("\x1b"))));
}

TEST_F(Configure, LinksOutOfTheProjectAreRefused) {
  const fs::path outside = MakeFile("outside/settings.json", "{}\n");
  MakeLink("project/.gemini", Path("outside"));
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("out of the project"));
  EXPECT_EQ(ReadFile(outside), "{}\n");
  MakeLink("project/.mcp.json", Path("nowhere"));
  EXPECT_THAT(FailsWithOneLine({"claude"}), HasSubstr("link to nothing"));
  MakeLink("project/.codex/config.toml", "nothing");
  EXPECT_THAT(FailsWithOneLine({"codex"}), HasSubstr("link to nothing"));
}

TEST_F(Configure, WhatCannotBeLookedAtIsNamed) {
  MakeLink("home/.codex", ".codex");
  EXPECT_THAT(Succeeds({}), HasSubstr("  codex "));
  MakeLink("project/opencode.json", "opencode.json");
  EXPECT_THAT(FailsWithOneLine({"opencode"}),
              AllOf(HasSubstr("cannot resolve the links of"), HasSubstr("/opencode.json"),
                    Not(HasSubstr("filesystem error"))));
}

TEST_F(Configure, TheHomeIsNoProject) {
  working_directory_ = Path("home");
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("--user"));
  working_directory_ = "/";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("--user"));
}

TEST_F(Configure, LimactlStartsTheServerWhereItRunsThisProgram) {
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"command\": \"" + fs::canonical(ServerProgram()).string() + "\""))
      << "no limactl on PATH";
  MakeProgram("bin/limactl");
  MakeLink("bin/limactl-mcp", fs::canonical(ServerProgram()));
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              AllOf(HasSubstr("\"command\": \"limactl\""),
                    HasSubstr("[\"mcp\", \"serve\", \"default\", \"--root\", \".\"]")));
  fs::remove(Path("bin/limactl-mcp"));
  MakeProgram("bin/limactl-mcp");
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"command\": \"" + fs::canonical(ServerProgram()).string() + "\""))
      << "another program of that name would win";
}

TEST_F(Configure, LimaHomeIsPassedWhereItIsSet) {
  environment_["LIMA_HOME"] = MakeDirectory("my lima");
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")),
              HasSubstr("\"LIMA_HOME\": \"" + Path("my lima").string() + "\""));
  environment_.erase("LIMA_HOME");
  Succeeds({"gemini"});
  EXPECT_THAT(ReadFile(Path("project/.gemini/settings.json")), Not(HasSubstr("LIMA_HOME")));
}

TEST_F(Configure, NotesWhatTheInstanceLacks) {
  environment_["LIMA_HOME"] = MakeDirectory("lima");
  const auto note = [&](const std::string& yaml) {
    MakeFile("lima/default/lima.yaml", yaml);
    const std::string output = Succeeds({"opencode"});
    const std::size_t begin = output.find("Note: ");
    return begin == std::string::npos ? "" : output.substr(begin, output.find('\n', begin) - begin);
  };
  const std::string project = Path("project").string();
  EXPECT_EQ(note("mounts: [{location: " + Path().string() + ", writable: true}]\n"), "");
  EXPECT_EQ(note("mounts: [{location: " + project + ", mountPoint: /p, writable: true}]\n"), "");
  EXPECT_THAT(note("mounts: [{location: " + project + "}]\n"), HasSubstr("read-only"));
  EXPECT_THAT(note("mounts: [{location: /elsewhere, writable: true}]\n"),
              AllOf(HasSubstr("does not mount " + project + ","),
                    HasSubstr("limactl edit default --start --mount " + project + ":w")));
  EXPECT_THAT(note("plain: true\n"), HasSubstr("plain: true"));
  EXPECT_THAT(note("mounts: [\n"), HasSubstr("lima.yaml"));
  fs::remove_all(Path("lima/default"));
  EXPECT_THAT(Succeeds({"opencode"}), HasSubstr("no Lima instance \"default\""));
  environment_.erase("LIMA_HOME");
  MakeLink("home/.lima", ".lima");
  EXPECT_THAT(Succeeds({"opencode"}),
              AllOf(HasSubstr("Note: the instance cannot be used as it is: cannot use Lima's home"),
                    HasSubstr("Undo with: ")));
}

TEST_F(Configure, AFileThatCannotBeWrittenLeavesTheOthersAsTheyWere) {
  // No file can be made beside it, as its name would be too long: that stops root too.
  const std::string long_name(250, 'x');
  MakeFile("project/.claude/settings.json", "{ }\n");
  MakeFile("project/" + long_name, "{}\n");
  MakeLink("project/.mcp.json", long_name);
  const auto before = Files("project");
  EXPECT_THAT(FailsWithOneLine({"claude"}),
              AllOf(HasSubstr("name too long"), HasSubstr("the other files are as they were")));
  EXPECT_EQ(Files("project"), before);
}

TEST_F(Configure, AFileThatWasRemovedComesBackWithItsMode) {
  Succeeds({"claude"});
  fs::permissions(Path("project/.mcp.json"), fs::perms(0600));
  // .mcp.json is removed first; then no file can be made beside this one, as above.
  const std::string long_name(250, 'x');
  fs::rename(Path("project/.claude/settings.json"), Path("project/" + long_name));
  MakeLink("project/.claude/settings.json", Path("project/" + long_name));
  const auto before = Files("project");
  EXPECT_THAT(FailsWithOneLine({"claude", "--remove"}),
              HasSubstr("the other files are as they were"));
  EXPECT_EQ(Files("project"), before);
  EXPECT_EQ(ModeOf(Path("project/.mcp.json")), 0600U);
}

TEST_F(Configure, NewFilesAreMadeAsTheUmaskSays) {
  const mode_t before = ::umask(027);
  Succeeds({"claude"});
  ::umask(before);
  EXPECT_EQ(ModeOf(Path("project/.mcp.json")), 0640U);
}

TEST_F(Configure, WithoutAnAgentListsThoseFoundHereFirst) {
  MakeProgram("bin/opencode");
  MakeDirectory("home/.codex");
  const std::string list = Succeeds({});
  EXPECT_THAT(list, StartsWith("Found on this machine:\n  codex     Codex\n  opencode  opencode\n"
                               "Others:\n  claude    Claude Code\n"));
  for (const std::string& agent : kAgents) EXPECT_THAT(list, HasSubstr("  " + agent + " "));
}

TEST_F(Configure, WrongCommandLinesAreOneLine) {
  EXPECT_THAT(FailsWithOneLine({"emacs"}), AllOf(HasSubstr("emacs"), HasSubstr("opencode")));
  EXPECT_THAT(FailsWithOneLine({"gemini", "../x"}), HasSubstr("../x"));
  EXPECT_THAT(FailsWithOneLine({"gemini", "a", "b"}), HasSubstr("b"));
  EXPECT_THAT(FailsWithOneLine({"--user"}), HasSubstr("which agent"));
  EXPECT_THAT(FailsWithOneLine({"gemini", "--remove", "--trust"}), HasSubstr("--trust"));
  environment_["HOME"] = "relative";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("HOME must be set"));
  environment_.erase("HOME");
  environment_["LIMA_HOME"] = "/nowhere/\xff";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("/nowhere/\\xff is not UTF-8"));
  environment_["LIMA_HOME"] = "relative";
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("relative"));
}

TEST_F(Configure, OpencodesOtherFileIsTakenWhereItIsThere) {
  MakeFile("project/opencode.jsonc", "{\n  // mine\n}\n");
  Succeeds({"opencode"});
  EXPECT_FALSE(fs::exists(Path("project/opencode.json")));
  EXPECT_THAT(ReadFile(Path("project/opencode.jsonc")),
              AllOf(HasSubstr("// mine"), HasSubstr("\"lima\"")));
  Succeeds({"opencode", "--remove"});
  EXPECT_EQ(ReadFile(Path("project/opencode.jsonc")), "{\n  // mine\n}\n");
}

TEST_F(Configure, LeavesNoTemporaryFiles) {
  for (const std::string& agent : kAgents) Succeeds({agent});
  for (const auto& [name, text] : Files("project")) {
    EXPECT_THAT(name, Not(HasSubstr("limactl-mcp-"))) << name;
    EXPECT_EQ(ModeOf(Path("project/" + name)), 0644U) << name;
  }
}

}  // namespace
}  // namespace integration
