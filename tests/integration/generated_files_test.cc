// The page of the manual and the shells' completions, which are made of the definitions of the
// help.

#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_support::ProcessResult;
using Lines = std::vector<std::string>;

class GeneratedFiles : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("generated");
    for (const char* option : {"--man", "--completions"}) {
      const ProcessResult result = RunServer({"generate-doc", option, Path("generated")});
      ASSERT_EQ(result.exit_code, 0) << result.error;
    }
    MakeFile("lima/agent/lima.yaml", "");
    MakeFile("lima/default/lima.yaml", "");
    MakeFile("lima/_config/override.yaml", "");
  }

  [[nodiscard]] std::string File(const std::string& name) const { return Path("generated") / name; }

  ProcessResult RunHere(const Lines& arguments, const std::string& input = "") const {
    testing_support::ChildProcess::Options options;
    options.arguments = arguments;
    options.environment = {{"LIMA_HOME", LimaHome().string()},
                           {"HOME", Path().string()},
                           {"LC_ALL", "C.UTF-8"},
                           {"TERM", "dumb"}};
    options.working_directory = Path();
    return testing_support::RunProcess(options, input);
  }

  /// The commands that the help shows.
  [[nodiscard]] Lines Commands() const {
    const std::string help = RunServer({"--help"}).output;
    const std::size_t begin = help.find("Commands:\n") + 10;
    Lines names;
    for (const std::string& line : LinesOf(help.substr(begin, help.find("\n\n", begin) - begin))) {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
  }

  /// The long options in the help of `command`, without their dashes.
  [[nodiscard]] std::set<std::string> Options(const Lines& command) const {
    Lines arguments = command;
    arguments.emplace_back("--help");
    std::set<std::string> options;
    for (const std::string& line : LinesOf(RunServer(arguments).output)) {
      std::smatch match;
      static const std::regex option("^ +(-[a-z], )?--([a-z-]+).*");
      if (std::regex_match(line, match, option)) options.insert(match[2]);
    }
    return options;
  }

  /// What bash would offer for the last of `words`.
  Lines Bash(const Lines& words) const {
    std::string script = "source " + File("limactl-mcp.bash") +
                         "\n__start_limactl() { COMPREPLY=(own); }\nCOMP_WORDS=(";
    for (const std::string& word : words) script += " '" + word + "'";
    script += ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" +
              std::string(words[0] == "limactl" ? "_limactl_with_mcp" : "_limactl_mcp") +
              "\n[[ ${#COMPREPLY[@]} = 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const ProcessResult result = RunHere({"bash", "--norc", "-c", script});
    EXPECT_EQ(result.error, "");
    return LinesOf(result.output);
  }

  Lines Fish(const std::string& line) const {
    const ProcessResult result =
        RunHere({"fish", "--no-config", "-c",
                 "source " + File("limactl-mcp.fish") + "; complete -C '" + line + "'"});
    EXPECT_EQ(result.error, "");
    Lines offered = LinesOf(result.output);
    for (std::string& text : offered) text = text.substr(0, text.find('\t'));
    return offered;
  }
};

TEST_F(GeneratedFiles, ManualHasEveryCommandAndOptionOfTheHelp) {
  const std::string page = ReadFile(File("limactl-mcp.1"));
  for (const std::string& command : Commands()) {
    EXPECT_THAT(page, HasSubstr("\n.SS limactl mcp " + command + " [OPTIONS]"));
    for (const std::string& option : Options({command})) {
      EXPECT_THAT(page, HasSubstr("\\fB\\-\\-" +
                                  std::regex_replace(option, std::regex("-"), std::string("\\-"))))
          << command;
    }
  }
  for (const std::string& option : Options({})) EXPECT_THAT(page, HasSubstr("\\-\\-" + option));
  EXPECT_THAT(page, Not(HasSubstr("limactl mcp generate")));
  // What the file tools accept is not all in lima.yaml.
  for (const char* name : {"default.yaml", "override.yaml", "allow\\-path"}) {
    EXPECT_THAT(page.substr(page.find("\n.SH FILES\n")), HasSubstr(name));
  }
}

TEST_F(GeneratedFiles, CompletionsHaveEveryCommandAndOptionOfTheHelp) {
  const std::string bash = ReadFile(File("limactl-mcp.bash"));
  const std::string zsh = ReadFile(File("_limactl-mcp"));
  const std::string fish = ReadFile(File("limactl-mcp.fish"));
  for (const std::string& command : Commands()) {
    EXPECT_THAT(Bash({"limactl-mcp", ""}), Contains(command));
    EXPECT_THAT(zsh, HasSubstr("'" + command + ":"));
    EXPECT_THAT(fish, HasSubstr(" -a " + command + " -d "));
    const Lines offered = Bash({"limactl-mcp", command, "-"});
    for (const std::string& option : Options({command})) {
      EXPECT_THAT(offered, Contains("--" + option)) << command;
      EXPECT_THAT(zsh, HasSubstr("--" + option)) << command;
      EXPECT_THAT(fish, HasSubstr("__limactl_mcp_at " + command + "' -f")) << command;
      EXPECT_THAT(fish, HasSubstr(" -l " + option + " ")) << command;
    }
  }
}

TEST_F(GeneratedFiles, ManualIsFreeOfMistakes) {
  if (!Installed("mandoc")) GTEST_SKIP() << Skipping("no mandoc on this machine");
  // "style" would object to long lines and to the date, which is left out for the same sources to
  // make the same page.
  const ProcessResult result =
      RunHere({"mandoc", "-T", "lint", "-W", "warning", File("limactl-mcp.1")});
  for (const std::string& line : LinesOf(result.output)) {
    EXPECT_THAT(line, HasSubstr("missing date"));
  }
}

TEST_F(GeneratedFiles, ManualIsShownWithoutWarnings) {
  if (!Installed("man")) GTEST_SKIP() << Skipping("no man on this machine");
  const ProcessResult result = RunHere({"man", "--warnings", "-l", File("limactl-mcp.1")});
  if (result.exit_code != 0) GTEST_SKIP() << Skipping("another man than man-db's: " + result.error);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.output, HasSubstr("--command-timeout"));
}

TEST_F(GeneratedFiles, BashCompletesCommandsOptionsAndInstances) {
  EXPECT_THAT(Bash({"limactl-mcp", "ser"}), ElementsAre("serve"));
  EXPECT_THAT(Bash({"limactl-mcp", "--v"}), ElementsAre("--version"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--ro"}), ElementsAre("--root"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", ""}), ElementsAre("agent", "default"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--root", "/x", "a"}), ElementsAre("agent"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "agent", "a"}), IsEmpty());
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--command-timeout", ""}), IsEmpty());
}

TEST_F(GeneratedFiles, BashRunsNoNameOfADirectory) {
  MakeFile("lima/$(touch pwned)/lima.yaml", "");
  MakeFile("lima/`touch pwned`/lima.yaml", "");
  EXPECT_THAT(Bash({"limactl-mcp", "serve", ""}), ElementsAre("agent", "default"));
  EXPECT_FALSE(fs::exists(Path("pwned")));
}

TEST_F(GeneratedFiles, AgentsAreCompletedBeforeInstances) {
  EXPECT_THAT(Bash({"limactl-mcp", "configure", "cl"}), ElementsAre("claude"));
  EXPECT_THAT(Bash({"limactl-mcp", "configure", "--print", "claude", ""}),
              ElementsAre("agent", "default"));
  EXPECT_THAT(ReadFile(File("_limactl-mcp")), HasSubstr("(claude "));
  EXPECT_THAT(ReadFile(File("limactl-mcp.1")), HasSubstr("is one of: claude, "));
}

TEST_F(GeneratedFiles, BashCompletesDirectoriesAlsoBehindAnEqualsSign) {
  MakeDirectory("project");
  MakeFile("proof.txt", "");
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--root", "pro"}), ElementsAre("project"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--root", "=", "pro"}), ElementsAre("project"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--root", "=", "/x", "d"}), ElementsAre("default"));
  EXPECT_THAT(Bash({"limactl-mcp", "serve", "--audit", "proo"}), ElementsAre("proof.txt"));
}

TEST_F(GeneratedFiles, BashLeavesTheRestOfLimactlToItsOwnCompletion) {
  EXPECT_THAT(Bash({"limactl", "mcp", "serve", "a"}), ElementsAre("agent"));
  EXPECT_THAT(Bash({"limactl", "--log-level", "info", "mcp", "ser"}), ElementsAre("serve"));
  // As bash splits --log-level=info and --tty=false.
  EXPECT_THAT(Bash({"limactl", "--log-level", "=", "info", "--tty", "=", "false", "mcp", "ser"}),
              ElementsAre("serve"));
  EXPECT_THAT(Bash({"limactl", "start", ""}), ElementsAre("own"));
  EXPECT_THAT(Bash({"limactl", "mc"}), ElementsAre("own"));
  EXPECT_THAT(Bash({"limactl", "shell", "mcp", ""}), ElementsAre("own"));
}

TEST_F(GeneratedFiles, FishCompletesCommandsOptionsAndInstances) {
  if (!Installed("fish")) GTEST_SKIP() << Skipping("no fish on this machine");
  MakeDirectory("project");
  EXPECT_THAT(Fish("limactl-mcp ser"), ElementsAre("serve"));
  EXPECT_THAT(Fish("limactl-mcp --v"), ElementsAre("--version"));
  EXPECT_THAT(Fish("limactl-mcp serve --ro"), ElementsAre("--root"));
  EXPECT_THAT(Fish("limactl-mcp serve "), ElementsAre("agent", "default"));
  EXPECT_THAT(Fish("limactl-mcp serve --root /x a"), ElementsAre("agent"));
  EXPECT_THAT(Fish("limactl-mcp serve agent a"), IsEmpty());
  EXPECT_THAT(Fish("limactl-mcp serve --root pro"), ElementsAre("project/"));
  EXPECT_THAT(Fish("limactl mcp serve a"), ElementsAre("agent"));
  EXPECT_THAT(Fish("limactl --debug mcp ser"), ElementsAre("serve"));
  EXPECT_THAT(Fish("limactl shell mcp serve a"), Not(Contains("agent")));
}

// zsh completes only in an interactive shell: this drives one through its own pseudo-terminal and
// reads the line back that a key press would have made.
TEST_F(GeneratedFiles, ZshCompletesCommandsOptionsAndInstances) {
  if (!Installed("zsh")) GTEST_SKIP() << Skipping("no zsh on this machine");
  MakeDirectory("project");
  MakeFile("functions/_limactl", "#compdef limactl\ncompadd own-completion\n");
  fs::copy_file(File("_limactl-mcp"), Path("functions/_limactl-mcp"));
  MakeFile("drive.zsh", R"zsh(zmodload zsh/zpty || { print -r -- 'NO ZPTY'; exit }
zpty z "zsh -f -i"
await() {
  local out
  while zpty -r z out "*<LINE:*>*"; do
    [[ $out =~ '<LINE:([^>]*)>' ]] && { print -r -- $match[1]; return }
  done
}
zpty -w z 'PS1=; stty -echo; fpath=($HOME/functions $fpath); autoload -U compinit; compinit -u -D'
zpty -w z 'report() { print -rn -- "<LI""NE:$BUFFER>"; BUFFER= }; zle -N report; bindkey "^X" report'
zpty -n -w z $'\C-X'
await >/dev/null
for line in "$@"; do
  zpty -n -w z "$line"$'\t\C-X'
  await
done
zpty -d z
)zsh");
  const ProcessResult result =
      RunHere({"zsh", "-f", Path("drive.zsh"), "limactl-mcp ser", "limactl-mcp serve --ro",
               "limactl-mcp serve a", "limactl-mcp serve --root pro", "limactl mcp serve a",
               "limactl --debug mcp ser", "limactl ow"});
  if (result.output == "NO ZPTY\n") GTEST_SKIP() << Skipping("a zsh without its module zpty");
  EXPECT_THAT(
      LinesOf(result.output),
      ElementsAre("limactl-mcp serve ", "limactl-mcp serve --root=", "limactl-mcp serve agent ",
                  "limactl-mcp serve --root project/", "limactl mcp serve agent ",
                  "limactl --debug mcp serve ", "limactl own-completion "))
      << result.error;
}

TEST_F(GeneratedFiles, FishRunsNoNameOfADirectory) {
  if (!Installed("fish")) GTEST_SKIP() << Skipping("no fish on this machine");
  MakeFile("lima/(touch pwned)/lima.yaml", "");
  MakeFile("lima/$(touch pwned)/lima.yaml", "");
  EXPECT_THAT(Fish("limactl-mcp serve a"), ElementsAre("agent"));
  EXPECT_FALSE(fs::exists(Path("pwned")));
}

TEST_F(GeneratedFiles, DirectoryThatIsNotThereIsOneLine) {
  for (const char* option : {"--man", "--completions"}) {
    const ProcessResult result = RunServer({"generate-doc", option, Path("missing")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.error, HasSubstr(Path("missing").string()));
  }
}

}  // namespace
}  // namespace integration
