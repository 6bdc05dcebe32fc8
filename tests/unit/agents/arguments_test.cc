// Which arguments of the user's are passed on to an agent.

#include "agents/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "agents/confined_agent.h"

namespace agents {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::array kOptions = {
    AllowedOption{"-p"}, AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"--resume", OptionValue::kOptional},
    AllowedOption{"--mode", OptionValue::kRequired,
                  [](std::string_view value) { return value == "plan"; }}};
constexpr std::array kExecOptions = {AllowedOption{"--json"}};
constexpr std::array kModes = {Mode{"", kOptions, true, true}, Mode{"exec", kExecOptions, true},
                               Mode{"login", {}, false}};
constexpr std::array kRefused = {RefusedOption{"--yolo", "give --trust instead"}};
constexpr ArgumentRules kRules = {"Agent", kModes, kRefused, "put -- before it"};

/// Empty if all pass.
std::string Refusal(const std::vector<std::string>& arguments) {
  return FindRefused(arguments, kRules).value_or("");
}

TEST(Arguments, ThatAreKnownToBeHarmlessPass) {
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
    EXPECT_EQ(Refusal(arguments), "") << ::testing::PrintToString(arguments);
  }
}

TEST(Arguments, ThatAreNotKnownAreRefusedByName) {
  EXPECT_THAT(Refusal({"--new-flag"}), AllOf(HasSubstr("--new-flag"), HasSubstr("--model")));
  EXPECT_THAT(Refusal({"-p", "--new-flag=x"}), HasSubstr("--new-flag"));
  EXPECT_THAT(Refusal({"-x"}), HasSubstr("-x"));
  EXPECT_THAT(Refusal({"--mod", "opus"}), HasSubstr("--mod "));
  EXPECT_THAT(Refusal({"-px"}), HasSubstr("-px")) << "short options are not joined";
  EXPECT_THAT(Refusal({"--json"}), HasSubstr("--json")) << "an option of another command";
}

TEST(Arguments, AreRefusedWithTheReasonThatIsKnown) {
  EXPECT_THAT(Refusal({"--yolo"}), HasSubstr("give --trust instead"));
  EXPECT_THAT(Refusal({"--yolo=true"}), HasSubstr("give --trust instead"));
}

TEST(Arguments, ThatMayBeCommandsAreRefused) {
  EXPECT_THAT(Refusal({"mcp", "add"}), AllOf(HasSubstr("\"mcp\""), HasSubstr("exec, login")));
  EXPECT_THAT(Refusal({"-p", "mcp"}), HasSubstr("\"mcp\""));
  EXPECT_THAT(Refusal({"login", "word"}), HasSubstr("\"word\""));
}

TEST(Arguments, ThatAreValuesMustBeHarmlessToo) {
  EXPECT_THAT(Refusal({"--mode", "bypass"}), HasSubstr("--mode"));
  EXPECT_THAT(Refusal({"--mode=bypass"}), HasSubstr("--mode"));
  EXPECT_THAT(Refusal({"--model", "--yolo"}), HasSubstr("--model"));
  EXPECT_THAT(Refusal({"--resume", "--yolo"}), HasSubstr("--yolo"));
  EXPECT_THAT(Refusal({"-p=x"}), HasSubstr("-p=x"));
}

/// What undoes the confinement of each agent, in the spellings that its parser takes.
TEST(Arguments, ThatUndoTheConfinementAreRefusedForEachAgent) {
  const std::vector<std::pair<std::string, std::vector<std::vector<std::string>>>> dangerous = {
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
  for (const auto& [name, all] : dangerous) {
    for (const ConfinedAgent& agent : ConfinedAgents()) {
      if (agent.name != name) continue;
      for (const auto& arguments : all) {
        EXPECT_TRUE(agent.find_refused(arguments))
            << name << ": " << ::testing::PrintToString(arguments);
      }
    }
  }
}

}  // namespace
}  // namespace agents
