// share/man and share/completions: every command and option of the help is there, and the
// completions work in real shells.

#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::ProcessResult;
using Lines = std::vector<std::string>;

const std::string kShare = LIMACTL_MCP_SOURCE_DIRECTORY "/share/";
const std::string kManual = kShare + "man/limactl-mcp.1";
const std::string kBash = kShare + "completions/limactl-mcp.bash";
const std::string kZsh = kShare + "completions/_limactl-mcp";
const std::string kFish = kShare + "completions/limactl-mcp.fish";

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

  /// The commands in the help.
  [[nodiscard]] Lines Commands() const {
    const std::string help = RunServer({"--help"}).output;
    const std::size_t begin = help.find("Commands:\n") + 10;
    Lines names;
    for (const std::string& line : LinesOf(help.substr(begin, help.find("\n\n", begin) - begin))) {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
  }

  /// The long options in the help of a command ("" for the program), such as "--root".
  [[nodiscard]] std::set<std::string> Options(const std::string& command) const {
    const Lines arguments = command.empty() ? Lines{"--help"} : Lines{command, "--help"};
    static const std::regex option("^ +(?:-[a-z], )?(--[a-z-]+).*");
    std::set<std::string> options;
    std::smatch match;
    for (const std::string& line : LinesOf(RunServer(arguments).output)) {
      if (std::regex_match(line, match, option)) options.insert(match[1]);
    }
    return options;
  }

  /// The agents that a command accepts, from the error for an unknown one.
  [[nodiscard]] Lines Agents(const std::string& command) const {
    static const std::regex known(": ((?:[a-z]+, )+[a-z]+)");
    const std::string error = RunServer({command, "nobody"}).error;
    std::smatch match;
    EXPECT_TRUE(std::regex_search(error, match, known)) << error;
    const std::string list = std::regex_replace(match[1].str(), std::regex(","), "");
    return LinesOf(std::regex_replace(list, std::regex(" "), "\n"));
  }

  /// What bash offers for the last of `words`.
  [[nodiscard]] Lines Bash(const Lines& words) const {
    std::string script =
        "source " + kBash + "\n__start_limactl() { COMPREPLY=(own); }\nCOMP_WORDS=(";
    for (const std::string& word : words) script += " '" + word + "'";
    script += ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" +
              std::string(words[0] == "limactl" ? "_limactl_with_mcp" : "_limactl_mcp") +
              "\n[[ ${#COMPREPLY[@]} = 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const ProcessResult result = RunHere({"bash", "--norc", "-c", script});
    EXPECT_EQ(result.error, "");
    return LinesOf(result.output);
  }

  /// What fish offers at the end of each line.
  [[nodiscard]] std::vector<Lines> Fish(const Lines& lines) const {
    std::string script = "source " + kFish;
    for (const std::string& line : lines) script += "; complete -C '" + line + "'; echo END";
    const ProcessResult result = RunHere({"fish", "--no-config", "-c", script});
    EXPECT_EQ(result.error, "");
    std::vector<Lines> offered(1);
    for (const std::string& text : LinesOf(result.output)) {
      if (text == "END") {
        offered.emplace_back();
      } else {
        offered.back().push_back(text.substr(0, text.find('\t')));
      }
    }
    offered.pop_back();
    return offered;
  }
};

TEST_F(ShareFiles, HaveEveryCommandAndOptionOfTheHelp) {
  const std::string page =
      std::regex_replace(ReadFile(kManual), std::regex(R"(\\f[BIR]|\\(?=-))"), "");
  const auto section = [&page](const std::string& heading) {
    const std::size_t begin = page.find("\n.S" + heading);
    if (begin == std::string::npos) return std::string();
    return page.substr(begin, page.find("\n.S", begin + 1) - begin) + '\n';
  };
  const std::string zsh = ReadFile(kZsh);
  EXPECT_THAT(Commands(), ElementsAre("serve", "run", "configure", "info", "doctor"));
  for (const std::string& option : Options("")) {
    EXPECT_THAT(section("H OPTIONS"), HasSubstr(option + "\n"));
    EXPECT_THAT(Bash({"limactl-mcp", "-"}), Contains(option));
    EXPECT_THAT(zsh, HasSubstr(option));
  }
  for (const std::string& command : Commands()) {
    EXPECT_THAT(Bash({"limactl-mcp", ""}), Contains(command));
    EXPECT_THAT(zsh, HasSubstr("'" + command + ":"));
    const Lines in_bash = Bash({"limactl-mcp", command, "-"});
    std::string in_manual = section("S limactl mcp " + command);
    if (in_manual.find("options of\n.B serve") != std::string::npos) {
      in_manual += section("S limactl mcp serve");
    }
    for (const std::string& option : Options(command)) {
      EXPECT_THAT(in_bash, Contains(option)) << command;
      EXPECT_TRUE(std::regex_search(zsh, std::regex(option + "[=[,}]"))) << option;
      if (option == "--help") continue;
      EXPECT_TRUE(std::regex_search(in_manual, std::regex("\n" + option + "[ \n]")))
          << command << ": " << option;
    }
  }
  for (const char* command : {"run", "configure"}) {
    const Lines agents = Agents(command);
    EXPECT_THAT(agents, ::testing::SizeIs(::testing::Ge(4)));
    EXPECT_EQ(Bash({"limactl-mcp", command, ""}), agents);
    std::string list;
    for (const std::string& agent : agents) list += (list.empty() ? "" : " ") + agent;
    EXPECT_THAT(zsh, HasSubstr("(" + list + ")"));
    std::string sentence = std::regex_replace(list, std::regex(" "), ", ");
    sentence.replace(sentence.rfind(", "), 2, " and ");
    EXPECT_THAT(page, HasSubstr("\nAGENT is one of " + sentence + ".\n"));
  }
}

TEST_F(ShareFiles, FishHasEveryCommandAndOptionOfTheHelp) {
  if (!Installed("fish")) GTEST_SKIP() << Skipping("no fish on this machine");
  const Lines commands = Commands();
  Lines lines = {"limactl-mcp ", "limactl-mcp run ", "limactl-mcp configure ", "limactl-mcp --"};
  for (const std::string& command : commands) lines.push_back("limactl-mcp " + command + " --");
  const std::vector<Lines> offered = Fish(lines);
  ASSERT_EQ(offered.size(), lines.size());
  EXPECT_THAT(offered[0], ::testing::UnorderedElementsAreArray(commands));
  EXPECT_EQ(offered[1], Agents("run"));
  EXPECT_EQ(offered[2], Agents("configure"));
  EXPECT_THAT(offered[3], ::testing::UnorderedElementsAreArray(Options("")));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_THAT(offered[i + 4], ::testing::UnorderedElementsAreArray(Options(commands[i])));
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

TEST_F(ShareFiles, BashCompletesTheCommandLine) {
  MakeDirectory("project");
  MakeFile("proof.txt", "");
  const std::vector<std::pair<Lines, Lines>> cases = {
      {{"limactl-mcp", "ser"}, {"serve"}},
      {{"limactl-mcp", "--v"}, {"--version"}},
      {{"limactl-mcp", "serve", "--ro"}, {"--root"}},
      {{"limactl-mcp", "serve", ""}, {"agent", "default"}},
      {{"limactl-mcp", "serve", "--root", "/x", "a"}, {"agent"}},
      {{"limactl-mcp", "serve", "agent", "a"}, {}},
      {{"limactl-mcp", "serve", "--command-timeout", ""}, {}},
      {{"limactl-mcp", "configure", "cl"}, {"claude"}},
      {{"limactl-mcp", "configure", "--print", "claude", ""}, {"agent", "default"}},
      {{"limactl-mcp", "serve", "--root", "pro"}, {"project"}},
      {{"limactl-mcp", "serve", "--audit", "proo"}, {"proof.txt"}},
      // bash splits --root=/x into three words.
      {{"limactl-mcp", "serve", "--root", "=", "pro"}, {"project"}},
      {{"limactl-mcp", "serve", "--root", "=", "/x", "d"}, {"default"}},
      {{"limactl", "mcp", "serve", "a"}, {"agent"}},
      {{"limactl", "--log-level", "info", "mcp", "ser"}, {"serve"}},
      {{"limactl", "--log-level", "=", "info", "--tty", "=", "false", "mcp", "ser"}, {"serve"}},
      // limactl's own completion.
      {{"limactl", "start", ""}, {"own"}},
      {{"limactl", "mc"}, {"own"}},
      {{"limactl", "shell", "mcp", ""}, {"own"}}};
  for (const auto& [words, offered] : cases) {
    EXPECT_EQ(Bash(words), offered) << ::testing::PrintToString(words);
  }
}

TEST_F(ShareFiles, CompletionsRunNoNameOfADirectory) {
  for (const char* name : {"$(touch pwned)", "`touch pwned`", "(touch pwned)"}) {
    MakeFile(std::string("lima/") + name + "/lima.yaml", "");
  }
  EXPECT_THAT(Bash({"limactl-mcp", "serve", ""}), ElementsAre("agent", "default"));
  if (Installed("fish")) {
    EXPECT_THAT(Fish({"limactl-mcp serve a"}).at(0), ElementsAre("agent"));
  }
  EXPECT_FALSE(fs::exists(Path("pwned")));
}

TEST_F(ShareFiles, FishCompletesTheCommandLine) {
  if (!Installed("fish")) GTEST_SKIP() << Skipping("no fish on this machine");
  MakeDirectory("project");
  const std::vector<std::pair<std::string, Lines>> cases = {
      {"limactl-mcp ser", {"serve"}},
      {"limactl-mcp serve --ro", {"--root"}},
      {"limactl-mcp serve ", {"agent", "default"}},
      {"limactl-mcp serve --root /x a", {"agent"}},
      {"limactl-mcp serve agent a", {}},
      {"limactl-mcp serve --root pro", {"project/"}},
      {"limactl mcp serve a", {"agent"}},
      {"limactl --debug mcp ser", {"serve"}}};
  Lines lines;
  for (const auto& [line, offered] : cases) lines.push_back(line);
  lines.emplace_back("limactl shell mcp serve a");
  const std::vector<Lines> offered = Fish(lines);
  ASSERT_EQ(offered.size(), lines.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(offered[i], cases[i].second) << lines[i];
  }
  EXPECT_THAT(offered.back(), Not(Contains("agent")));
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
