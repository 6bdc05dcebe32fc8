// share/man, share/completions and docs/options.md: they have the commands and options of the help
// and no others, and the completions work in real shells.

#include <gmock/gmock.h>

#include <algorithm>

#include "integration/all_matches.h"
#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAreArray;
using testing_support::ProcessResult;
using Lines = std::vector<std::string>;

const std::string kShare = LIMACTL_MCP_SOURCE_DIRECTORY "/share/";
const std::string kManual = kShare + "man/limactl-mcp.1";
const std::string kZsh = kShare + "completions/_limactl-mcp";

/// The first group of each match, sorted, each once.
Lines All(const std::string& text, const std::string& pattern) {
  Lines found = AllMatches(text, pattern);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

class ShareFiles : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("lima/agent/lima.yaml", "");
    MakeFile("lima/default/lima.yaml", "");
    MakeFile("lima/_config/override.yaml", "");
  }

  [[nodiscard]] ProcessResult RunHere(const Lines& arguments) const {
    testing_support::ChildProcess::Options options;
    options.arguments = arguments;
    options.environment = {{"LIMA_HOME", LimaHome().string()},
                           {"HOME", Path().string()},
                           {"LC_ALL", "C.UTF-8"},
                           {"TERM", "dumb"}};
    options.working_directory = Path();
    return testing_support::RunProcess(options);
  }

  /// The long options in the help of a command ("" for the program), such as "--root".
  [[nodiscard]] Lines Options(const std::string& command) const {
    const Lines arguments = command.empty() ? Lines{"--help"} : Lines{command, "--help"};
    return All(RunServer(arguments).output, "\n +(?:-[a-z], )?(--[a-z-]+)");
  }

  /// The agents that a command accepts, from the error for an unknown one.
  [[nodiscard]] Lines Agents(const std::string& command) const {
    const Lines lists = All(RunServer({command, "nobody"}).error, ": ((?:[a-z]+, )+[a-z]+)");
    return All(lists.empty() ? "" : lists.front(), "([a-z]+)");
  }

  static std::vector<std::string> Shells() {
    return Installed("fish") ? Lines{"bash", "fish"} : Lines{"bash"};
  }

  /// What a shell offers at the end of a command line, sorted, directories without a slash.
  [[nodiscard]] Lines Complete(const std::string& shell, const std::string& line) const {
    const std::string file = kShare + "completions/limactl-mcp." + shell;
    Lines command = {"fish", "--no-config", "-c",
                     "source " + file + "; complete -C '" + line + "'"};
    if (shell == "bash") {
      const std::string function =
          line.starts_with("limactl ") ? "_limactl_with_mcp" : "_limactl_mcp";
      command = {"bash", "--norc", "-c",
                 "source " + file + "\n__start_limactl() { COMPREPLY=(own); }\nCOMP_WORDS=(" +
                     line + (line.ends_with(' ') ? "''" : "") +
                     ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" + function +
                     "\n[[ ${#COMPREPLY[@]} = 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"\n"};
    }
    const ProcessResult result = RunHere(command);
    EXPECT_EQ(result.error, "");
    Lines offered = LinesOf(result.output);
    for (std::string& text : offered) text = text.substr(0, text.find_first_of("\t/"));
    std::sort(offered.begin(), offered.end());
    return offered;
  }
};

TEST_F(ShareFiles, HaveEveryCommandAndOptionOfTheHelp) {
  std::string page = ReadFile(kManual);
  re2::RE2::GlobalReplace(&page, R"(\\f[BIR])", "");
  re2::RE2::GlobalReplace(&page, R"(\\-)", "-");
  const auto section = [&page](const std::string& heading) {
    const std::size_t begin = page.find("\n.S" + heading);
    if (begin == std::string::npos) return std::string();
    return page.substr(begin, page.find("\n.S", begin + 1) - begin) + '\n';
  };
  const std::string zsh = ReadFile(kZsh);
  Lines every_option = Options("");
  const Lines commands = All(RunServer({"--help"}).output, "\n  ([a-z]+) {2,}");
  ASSERT_EQ(commands.size(), 10U);
  for (const std::string& shell : Shells()) {
    EXPECT_EQ(Complete(shell, "limactl-mcp "), commands) << shell;
    EXPECT_EQ(Complete(shell, "limactl-mcp --"), Options("")) << shell;
  }
  for (const std::string& option : Options("")) {
    EXPECT_THAT(section("H OPTIONS"), HasSubstr(option + "\n"));
    EXPECT_THAT(zsh, HasSubstr(option));
  }
  for (const std::string& command : commands) {
    EXPECT_THAT(zsh, HasSubstr("'" + command + ":"));
    std::string in_manual = section("S limactl mcp " + command);
    if (in_manual.find("options of\n.B serve") != std::string::npos) {
      in_manual += section("S limactl mcp serve");
      re2::RE2::GlobalReplace(&in_manual, "\n--copy PROJECT\n", "\n");  // not one of run's
    }
    for (const std::string& shell : Shells()) {
      EXPECT_EQ(Complete(shell, "limactl-mcp " + command + " --"), Options(command)) << shell;
    }
    for (const std::string& option : Options(command)) {
      EXPECT_TRUE(re2::RE2::PartialMatch(zsh, option + "[=\\[,}]")) << option;
      if (option == "--help") continue;
      EXPECT_TRUE(re2::RE2::PartialMatch(in_manual, "\n" + option + "[ \n]"))
          << command << ": " << option;
    }
    EXPECT_THAT(Options(command), IsSupersetOf(All(in_manual, "\n(--[a-z-]+)"))) << command;
    for (const std::string& option : Options(command)) every_option.push_back(option);
  }
  EXPECT_THAT(every_option, IsSupersetOf(All(zsh, R"((--[a-z-]+)[=\[,}])")));
}

TEST_F(ShareFiles, HaveADescriptionOfEveryOption) {
  const std::string document = ReadFile(LIMACTL_MCP_SOURCE_DIRECTORY "/docs/options.md");
  for (const std::string command : {"serve", "run", "configure", "doctor"}) {
    const std::size_t begin = document.find("\n## " + command + "\n");
    ASSERT_NE(begin, std::string::npos) << command;
    Lines described =
        All(document.substr(begin, document.find("\n## ", begin + 1) - begin), "`(--[a-z-]+)");
    if (command == "run") {
      Lines of_serve = Options("serve");
      std::erase(of_serve, "--copy");
      described.insert(described.end(), of_serve.begin(), of_serve.end());
    } else {
      described.emplace_back("--help");
    }
    EXPECT_THAT(described, UnorderedElementsAreArray(Options(command))) << command;
  }
}

TEST_F(ShareFiles, NameTheAgents) {
  for (const std::string command : {"run", "configure"}) {
    const Lines agents = Agents(command);
    EXPECT_THAT(agents, ::testing::SizeIs(::testing::Ge(4)));
    std::string list;
    for (const std::string& agent : agents) list += (list.empty() ? "" : " ") + agent;
    for (const std::string& shell : Shells()) {
      EXPECT_EQ(Complete(shell, "limactl-mcp " + command + " "), agents) << shell;
    }
    EXPECT_THAT(ReadFile(kZsh), HasSubstr("(" + list + ")"));
    for (const std::string& agent : Agents("configure")) {
      EXPECT_THAT(ReadFile(LIMACTL_MCP_SOURCE_DIRECTORY "/docs/configure.md"),
                  HasSubstr("\n| `" + agent + "` "));
    }
    std::string sentence = list;
    re2::RE2::GlobalReplace(&sentence, " ", ", ");
    sentence.replace(sentence.rfind(", "), 2, " and ");
    EXPECT_THAT(ReadFile(kManual), HasSubstr("\nAGENT is one of " + sentence + ".\n"));
  }
}

TEST_F(ShareFiles, ManualIsShownWithoutWarnings) {
  if (Installed("mandoc")) {
    const ProcessResult result = RunHere({"mandoc", "-T", "lint", "-W", "warning", kManual});
    for (const std::string& line : LinesOf(result.output)) {
      EXPECT_THAT(line, HasSubstr("missing date"));
    }
  }
  if (!Installed("man")) GTEST_SKIP() << Skipping("no man on this machine");
  const ProcessResult result = RunHere({"man", "--warnings", "-l", kManual});
  if (result.exit_code != 0) GTEST_SKIP() << Skipping("another man than man-db's: " + result.error);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.output, HasSubstr("--command-timeout"));
}

TEST_F(ShareFiles, CompleteTheCommandLine) {
  MakeDirectory("project");
  MakeFile("proof.txt", "");
  const std::vector<std::pair<std::string, Lines>> cases = {
      {"limactl-mcp ser", {"serve"}},
      {"limactl-mcp --v", {"--version"}},
      {"limactl-mcp serve --ro", {"--root"}},
      {"limactl-mcp serve ", {"agent", "default"}},
      {"limactl-mcp serve --root /x a", {"agent"}},
      {"limactl-mcp serve agent a", {}},
      {"limactl-mcp serve --root pro", {"project"}},
      {"limactl-mcp serve --audit proo", {"proof.txt"}},
      {"limactl-mcp configure cl", {"claude"}},
      {"limactl-mcp configure --print claude ", {"agent", "default"}},
      {"limactl mcp serve a", {"agent"}},
      {"limactl --log-level info mcp ser", {"serve"}}};
  for (const std::string& shell : Shells()) {
    for (const auto& [line, offered] : cases) {
      EXPECT_EQ(Complete(shell, line), offered) << shell << ": " << line;
    }
    EXPECT_THAT(Complete(shell, "limactl shell mcp serve a"),
                ::testing::Not(::testing::Contains("agent")));
  }
  // bash splits --root=/x into three words, and has limactl's own completion for the rest.
  EXPECT_THAT(Complete("bash", "limactl-mcp serve --root = pro"), ElementsAre("project"));
  EXPECT_THAT(Complete("bash", "limactl-mcp serve --root = /x d"), ElementsAre("default"));
  EXPECT_THAT(Complete("bash", "limactl --tty = false mcp ser"), ElementsAre("serve"));
  EXPECT_THAT(Complete("bash", "limactl start "), ElementsAre("own"));
  EXPECT_THAT(Complete("bash", "limactl mc"), ElementsAre("own"));
}

TEST_F(ShareFiles, RunNoNameOfADirectory) {
  for (const char* name : {"$(touch pwned)", "`touch pwned`", "(touch pwned)"}) {
    MakeFile(std::string("lima/") + name + "/lima.yaml", "");
  }
  for (const std::string& shell : Shells()) {
    EXPECT_THAT(Complete(shell, "limactl-mcp serve a"), ElementsAre("agent"));
  }
  EXPECT_FALSE(fs::exists(Path("pwned")));
}

// zsh completes only in an interactive shell. This drives one through a pseudo-terminal and reads
// the completed line back.
TEST_F(ShareFiles, ZshCompletesTheCommandLine) {
  if (!Installed("zsh")) GTEST_SKIP() << Skipping("no zsh on this machine");
  MakeDirectory("project");
  MakeFile("functions/_limactl", "#compdef limactl\ncompadd own-completion\n");
  fs::copy_file(kZsh, Path("functions/_limactl-mcp"));
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

}  // namespace
}  // namespace integration
