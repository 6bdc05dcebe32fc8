// Which of the user's arguments are passed on to an agent.

#include "agents/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "unit/agents/named.h"

namespace agents {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::array kModes = {Mode{"", "-p --model= --resume? --mode=plan|ask", true, true},
                               Mode{"exec", "--json", true}, Mode{"login", "", false}};
constexpr std::array kRefusals = {Refusal{"give --trust instead", "-y --yolo"}};
constexpr ArgumentRules kRules = {"Agent", kModes, kRefusals};

/// Empty if all pass.
std::string Refused(const std::vector<std::string>& arguments) {
  return FindRefused(arguments, kRules).value_or("");
}

TEST(Arguments, HarmlessOnesPass) {
  const std::vector<std::vector<std::string>> passing = {{},
                                                         {"-p", "explain this"},
                                                         {"--model", "opus", "--resume"},
                                                         {"--model=opus"},
                                                         {"--resume", "id", "-p"},
                                                         {"--resume=id"},
                                                         {"--mode", "plan"},
                                                         {"exec", "--json", "explain this"},
                                                         {"-p", "one two", "word"},
                                                         {"--", "mcp"},
                                                         {"login"},
                                                         {""},
                                                         {"-"}};
  for (const auto& arguments : passing) {
    EXPECT_EQ(Refused(arguments), "") << ::testing::PrintToString(arguments);
  }
}

TEST(Arguments, UnknownOnesAreRefusedByName) {
  EXPECT_THAT(Refused({"--new-flag"}), AllOf(HasSubstr("--new-flag"), HasSubstr("--model")));
  EXPECT_THAT(Refused({"-p", "--new-flag=x"}), HasSubstr("--new-flag"));
  EXPECT_THAT(Refused({"-x"}), HasSubstr("-x"));
  EXPECT_THAT(Refused({"--mod", "opus"}), HasSubstr("--mod "));
  EXPECT_THAT(Refused({"-px"}), HasSubstr("-px")) << "short options are not joined";
  EXPECT_THAT(Refused({"--json"}), HasSubstr("--json")) << "an option of another command";
}

TEST(Arguments, ARefusalGivesItsReason) {
  EXPECT_THAT(Refused({"--yolo"}), HasSubstr("give --trust instead"));
  EXPECT_THAT(Refused({"-y"}), HasSubstr("give --trust instead"));
  EXPECT_THAT(Refused({"--yolo=true"}), HasSubstr("give --trust instead"));
}

TEST(Arguments, PossibleCommandsAreRefused) {
  EXPECT_THAT(Refused({"mcp", "add"}), AllOf(HasSubstr("\"mcp\""), HasSubstr("exec, login")));
  EXPECT_THAT(Refused({"-p", "mcp"}), HasSubstr("\"mcp\""));
  EXPECT_THAT(Refused({"login", "word"}), HasSubstr("\"word\""));
}

TEST(Arguments, ValuesMustBeHarmlessToo) {
  EXPECT_THAT(Refused({"--mode", "bypass"}), HasSubstr("--mode"));
  EXPECT_THAT(Refused({"--mode=bypass"}), HasSubstr("--mode"));
  EXPECT_THAT(Refused({"--mode=plan|ask"}), HasSubstr("--mode"));
  EXPECT_THAT(Refused({"--model", "--yolo"}), HasSubstr("--model"));
  EXPECT_THAT(Refused({"--resume", "--yolo"}), HasSubstr("--yolo"));
  EXPECT_THAT(Refused({"-p=x"}), HasSubstr("-p=x"));
}

/// Arguments that undo the confinement, in the spellings that the agents' parsers accept.
const std::vector<std::pair<std::string, std::vector<std::vector<std::string>>>> kDangerous = {
    {"claude",
     {{"--dangerously-skip-permissions"},
      {"--allow-dangerously-skip-permissions"},
      {"--permission-mode", "bypassPermissions"},
      {"--permission-mode=auto"},
      {"--mcp-config", "x.json"},
      {"--mcp-config=x.json"},
      {"--settings", "{}"},
      {"--setting-sources=project"},
      {"--allowedTools", "Bash"},
      {"--tools=Bash"},
      {"--add-dir", "/"},
      {"--plugin-dir=x"},
      {"--worktree"},
      {"mcp", "list"},
      {"--", "mcp", "list"},
      {"mcp", "-p"},
      {"-p", "--", "x"}}},
    {"codex",
     {{"-c", "x=y"},
      {"-cx=y"},
      {"--config=x=y"},
      {"exec", "-c", "x=y"},
      {"--enable", "shell_tool"},
      {"-p", "profile"},
      {"--yolo"},
      {"--dangerously-bypass-approvals-and-sandbox"},
      {"-s", "danger-full-access"},
      {"-sdanger-full-access"},
      {"-C", "/"},
      {"--add-dir=/"},
      {"mcp", "add"},
      {"apply"},
      {"exec", "resume"}}},
    {"copilot",
     {{"--yolo"},
      {"--allow-all"},
      {"--allow-tool=shell"},
      {"--allow-all-tools"},
      {"--trust-folder"},
      {"--assisted-approval"},
      {"--available-tools", "bash"},
      {"--excluded-tools="},
      {"--experimental"},
      {"--additional-mcp-config=@x"},
      {"--enable-mcp-server", "own"},
      {"--plugin-dir=x"},
      {"--agent", "x"},
      {"--acp"},
      {"--add-dir", "/"},
      {"-C", "/"},
      {"-C/"},
      {"--attachment=/etc/passwd"},
      {"--bash-env=on"},
      {"--remote"},
      {"--mode", "fleet"},
      {"--allow-all-p"},
      {"mcp", "add"},
      {"--continue", "update"},
      {"-p", "x", "version"},
      {"login", "--yolo"},
      {"--", "mcp"},
      {"update"}}},
    {"gemini",
     {{"-y"},
      {"-dy"},
      {"--yolo"},
      {"--approval-mode=yolo"},
      {"--approvalMode=yolo"},
      {"--policy", "x"},
      {"--extensions=x"},
      {"-e", "x"},
      {"--include-directories", "/"},
      {"--no-sandbox"},
      {"mcp", "add"},
      {"extensions", "install"}}},
    {"opencode",
     {{"--yolo"},
      {"run", "--auto", "x"},
      {"--port", "1"},
      {"run", "--attach", "x"},
      {"run", "-f", "x"},
      {"serve"},
      {"acp"},
      {"."},
      {"/"},
      {"run", "--dir=/", "x"}}}};

TEST(Arguments, HelpListsWhatPassesAndWhatDoesNot) {
  EXPECT_EQ(ArgumentHelp(kRules),
            "After --, Agent gets:\n"
            "  PROMPT -p --model= --resume? --mode=plan|ask\n"
            "  exec PROMPT --json\n"
            "  login\n"
            "Not passed on:\n"
            "  -y --yolo: give --trust instead\n");
}

TEST(Arguments, CodexExecMaySkipItsCheckForGit) {
  EXPECT_FALSE(FindRefused(std::vector<std::string>{"exec", "--skip-git-repo-check", "do it"},
                           Codex().run->rules));
}

TEST(Arguments, EachAgentRefusesWhatUndoesTheConfinement) {
  for (const auto& [name, all] : kDangerous) {
    for (const auto& arguments : all) {
      EXPECT_TRUE(FindRefused(arguments, Named(name).run->rules))
          << name << ": " << ::testing::PrintToString(arguments);
    }
  }
}

}  // namespace
}  // namespace agents
