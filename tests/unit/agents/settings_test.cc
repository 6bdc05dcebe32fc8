
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "agents/agent.h"
#include "configure/json_text.h"
#include "testing/child_process.h"
#include "unit/agents/named.h"

namespace agents {
namespace {

using configure::Add;
using configure::Edited;
using configure::Format;
using configure::Json;
using configure::ParseJson;
using configure::Remove;
using configure::SettingsFile;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::StartsWith;

SettingsRequest MakeRequest() {
  SettingsRequest request;
  request.project_key = "/home/u/project";
  request.server = {"limactl", "mcp", "serve", "agent"};
  request.tools = {"glob", "read_file"};
  request.environment = {{"HOME", "/home/u"}};
  return request;
}

/// Files as people write them.
const std::vector<std::string> kStartingTexts = {
    "{\n  // mine\n  \"theme\": \"dark\", /* why */\n  \"list\": [1,2 , 3],\n}\n",
    "{\"theme\":\"dark\",\"mcpServers\":{\"other\":{\"command\":\"c\"}},\"tools\":{\"exclude\":["
    "\"mine\"]},\"permissions\":{\"deny\":[\"Mine\"]}}",
    "{\r\n\t\"theme\": \"dark\",\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {}\r\n"
    "\t},\r\n\t\"permission\": { \"bash\": \"ask\" }, // tail\r\n}\r\n",
    "// head\n{\n      \"context_servers\": { \"x\": { \"command\": \"c\" } },\n\n"
    "      \"agent\": { \"profiles\": { \"mine\": {} } },\n"
    "      \"hooks\": { \"preToolUse\": [ { \"command\": \"mine\" } ], \"stop\": [] },\n"
    "      \"servers\": { \"other\": {} }, \"mcp\": { \"other\": {} }\n      // end\n}\n// foot"};

/// With the containers of `file.initial`, which stay, as Cursor needs them.
std::string WithInitial(const SettingsFile& file, const std::string& text) {
  return file.initial.empty() ? text : Remove(file, Add(file, text, true).text).text.value();
}

/// The settings where there are none yet, and what the user does instead.
std::string AllNew(const Agent& agent, const SettingsRequest& request) {
  const AgentSettings settings = agent.settings(request);
  std::string all;
  for (const SettingsFile& file : settings.files) {
    if (file.format != Format::kToml) all += *Add(file, std::nullopt, request.trust).text;
  }
  return all + settings.steps;
}

class EveryAgent : public ::testing::TestWithParam<std::tuple<std::string, bool, bool>> {
 protected:
  EveryAgent() : agent_(Named(std::get<0>(GetParam()))), request_(MakeRequest()) {
    request_.user = std::get<1>(GetParam());
    request_.trust = std::get<2>(GetParam());
    request_.server_environment = {{"LIMA_HOME", "/l i/m\"a"}};
  }

  [[nodiscard]] std::vector<SettingsFile> JsonFiles() const {
    std::vector<SettingsFile> files = agent_.settings(request_).files;
    std::erase_if(files, [](const SettingsFile& file) { return file.format != Format::kJson; });
    return files;
  }

  const Agent& agent_;
  SettingsRequest request_;
};

TEST_P(EveryAgent, LeavesEveryOtherByteAsItWas) {
  for (const SettingsFile& file : JsonFiles()) {
    for (const std::string& text : kStartingTexts) {
      const std::string before = WithInitial(file, text);
      const Edited added = Add(file, before, request_.trust);
      EXPECT_THAT(added.lines, IsEmpty());
      EXPECT_EQ(Add(file, added.text, request_.trust).text, added.text) << file.path;
      EXPECT_EQ(Remove(file, added.text).text, before) << *added.text;
      // What was there is there still, in its order, between what is new.
      std::size_t at = 0;
      for (const char byte : before) {
        at = added.text->find(byte, at);
        ASSERT_NE(at, std::string::npos) << file.path << "\n" << *added.text;
        ++at;
      }
    }
  }
}

TEST_P(EveryAgent, CanBeRemovedAfterAFormatterHasRun) {
  for (const SettingsFile& file : JsonFiles()) {
    for (const std::string& text : kStartingTexts) {
      const std::string before = WithInitial(file, text);
      const std::string after = Add(file, before, request_.trust).text.value();
      const std::string formatted = ParseJson(after).dump(4);
      const std::string left = Remove(file, formatted).text.value();
      EXPECT_EQ(ParseJson(left), ParseJson(before));
    }
  }
}

TEST_P(EveryAgent, FilesThatCannotBeReadAreRefused) {
  for (const SettingsFile& file : JsonFiles()) {
    EXPECT_THROW((void)Add(file, "{\n\"a\": \n", request_.trust), support::CallError) << file.path;
  }
}

TEST_P(EveryAgent, StartsTheServerForTheProjectAndPassesLimaHome) {
  EXPECT_THAT(AllNew(agent_, request_), AllOf(HasSubstr("limactl"), HasSubstr("--root")));
  EXPECT_THAT(AllNew(agent_, request_), HasSubstr("LIMA_HOME"));
  EXPECT_THAT(AllNew(agent_, request_), HasSubstr("/l i/m"));
  request_.server_environment.clear();
  EXPECT_THAT(AllNew(agent_, request_), Not(HasSubstr("LIMA_HOME")));
}

TEST_P(EveryAgent, StaysInTheProjectOrTheHome) {
  request_.project_files = !request_.user;
  for (const SettingsFile& file : agent_.settings(request_).files) {
    EXPECT_EQ(file.path.starts_with("/home/u/"), request_.user) << file.path;
    EXPECT_EQ(file.path.starts_with('/'), request_.user) << file.path;
    EXPECT_THAT(file.path, Not(HasSubstr("..")));
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, EveryAgent,
                         ::testing::Combine(::testing::Values("claude", "codex", "copilot",
                                                              "cursor", "gemini", "opencode",
                                                              "vscode", "zed"),
                                            ::testing::Bool(), ::testing::Bool()),
                         [](const auto& each) {
                           return std::get<0>(each.param) +
                                  (std::get<1>(each.param) ? "User" : "Project") +
                                  (std::get<2>(each.param) ? "Trusted" : "");
                         });

TEST(Agents, AreInAlphabeticalOrder) {
  std::vector<std::string_view> names;
  for (const Agent& agent : Agents()) names.push_back(agent.name);
  EXPECT_EQ(names.size(), 8U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

Json ReadFile(const std::string& agent, const SettingsRequest& request, std::string_view path) {
  for (const SettingsFile& file : Named(agent).settings(request).files) {
    if (!file.path.ends_with(path)) continue;
    const std::string text = Add(file, std::nullopt, request.trust).text.value();
    return ParseJson(text);
  }
  throw std::runtime_error("no file " + std::string(path));
}

TEST(Agents, ClientsWaitLongerThanTheServer) {
  SettingsRequest request = MakeRequest();
  request.project_files = true;
  EXPECT_EQ(ReadFile("gemini", request, "settings.json").at("mcpServers").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(ReadFile("claude", request, ".mcp.json").at("mcpServers").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(ReadFile("opencode", request, "opencode.json").at("mcp").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(ReadFile("copilot", request, "mcp.json").at("mcpServers").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(
      ReadFile("zed", request, "settings.json").at("context_servers").at("lima").at("timeout"),
      600);
  EXPECT_THAT(AllNew(Named("codex"), request), HasSubstr("\ntool_timeout_sec = 600\n"));
}

TEST(Agents, ClaudeKeepsTheServerOfAProjectInTheUsersOwnFile) {
  const Json settings = ReadFile("claude", MakeRequest(), "/home/u/.claude.json");
  const Json& servers = settings.at("projects").at("/home/u/project").at("mcpServers");
  EXPECT_EQ(servers.at("lima").at("command"), "limactl");
}

TEST(Agents, OpencodesRulesForAllToolsComeAfterTheUsers) {
  const SettingsFile file = Named("opencode").settings(MakeRequest()).files[0];
  const std::string text =
      Add(file, "{\"permission\": {\"*\": \"ask\", \"bash\": \"ask\", \"b*\": \"allow\"}}", false)
          .text.value();
  EXPECT_LT(text.find("\"b*\": \"allow\""), text.find("\"**\": \"deny\"")) << text;
  EXPECT_LT(text.find("\"**\": \"deny\""), text.find("\"lima_**\": \"ask\"")) << text;
}

TEST(Agents, ClaudeAndCodexOfferTheToolsWithoutASearch) {
  const SettingsRequest request = MakeRequest();
  const Json claude = ReadFile("claude", request, "/home/u/.claude.json");
  EXPECT_EQ(
      claude.at("projects").at("/home/u/project").at("mcpServers").at("lima").at("alwaysLoad"),
      true);
  const std::string codex = AllNew(Named("codex"), request);
  EXPECT_THAT(codex, HasSubstr("\nomit_tools_from = [\"deferred\"]\n"));
  EXPECT_THAT(codex, HasSubstr("\nsupports_parallel_tool_calls = true\n"));
}

TEST(Agents, PromptsAreSkippedOnlyWithTrust) {
  SettingsRequest request = MakeRequest();
  const auto skips = [&](std::string_view agent) {
    const std::string all = AllNew(Named(agent), request);
    for (const char* word :
         {"\"trust\": true", "mcp__lima", "enabledMcpjsonServers", "Mcp(lima:*)", "\"approve\""}) {
      if (all.find(word) != std::string::npos) return true;
    }
    return all.find("\"lima_**\": \"allow\"") != std::string::npos;
  };
  for (const Agent& agent : Agents()) EXPECT_FALSE(skips(agent.name)) << agent.name;
  request.trust = true;
  for (const char* agent : {"claude", "codex", "cursor", "gemini", "opencode"}) {
    EXPECT_TRUE(skips(agent)) << agent;
  }
}

// Gemini CLI warns of "exclude".
TEST(Agents, GeminiHasAListOfItsOwnToolsThatStay) {
  const Json settings = ReadFile("gemini", MakeRequest(), "settings.json");
  EXPECT_FALSE(settings.at("tools").contains("exclude"));
  const Json names = settings.at("tools").at("core");
  for (const char* tool : {"glob", "list_directory", "read_file", "replace", "run_shell_command",
                           "grep_search", "write_file", "ShellTool"}) {
    EXPECT_EQ(std::find(names.begin(), names.end(), tool), names.end()) << tool;
  }
}

TEST(Agents, ClaudesSettingsFollowItsVariable) {
  SettingsRequest request = MakeRequest();
  request.user = true;
  EXPECT_EQ(Named("claude").settings(request).files[0].path, "/home/u/.claude/settings.json");
  EXPECT_EQ(Named("claude").settings(request).files[1].path, "/home/u/.claude.json");
  request.environment["CLAUDE_CONFIG_DIR"] = "/home/u/c";
  EXPECT_EQ(Named("claude").settings(request).files[0].path, "/home/u/c/settings.json");
  EXPECT_EQ(Named("claude").settings(request).files[1].path, "/home/u/c/.claude.json");
}

TEST(Agents, GeminisListMayHaveToolsOfOtherServersOnly) {
  const SettingsFile file = Named("gemini").settings(MakeRequest()).files[0];
  const Edited mine =
      Add(file, "{\"tools\": {\"core\": [\"mcp_github_*\", \"web_fetch\"]}}", false);
  EXPECT_THAT(mine.lines, IsEmpty());
  EXPECT_THAT(mine.text, Optional(HasSubstr("[\"mcp_github_*\", \"web_fetch\", \"google_web")));
  EXPECT_THAT(Add(file, "{\"tools\": {\"core\": [\"web_fetch\", \"read_file\"]}}", false).lines,
              ElementsAre(StartsWith(":1:34: \"tools.core\" must not have \"read_file\": ")));
}

TEST(Agents, FilesThatTheyObeyAreProtected) {
  const paths::HostPrograms programs(ObeyedFiles());
  for (const char* path : {".claude/settings.json", "sub/.mcp.json", ".cursor/mcp.json", ".codex/x",
                           ".gemini/x", ".github/hooks/x.json", ".github/lsp.json",
                           "opencode.jsonc", ".vscode/tasks.json", ".zed/x"}) {
    const auto matches = programs.Match(path);
    EXPECT_TRUE(std::any_of(matches.begin(), matches.end(), [](const paths::HostMatch& match) {
      return match.row.writing == paths::Writing::kRefused;
    })) << path;
  }
  for (const paths::HostProgram& row : ObeyedFiles()) {
    EXPECT_FALSE(row.patterns.empty() || row.program.empty()) << row.patterns;
    EXPECT_LT(std::count(row.reason.begin(), row.reason.end(), ' '), 10) << row.reason;
  }
}

/// Below the folder of the agents, nothing knows one by its name.
TEST(Agents, AreNamedInNoOtherFolder) {
  const std::string names =
      "claude|codex|copilot|gemini|opencode|\\bCursor\\b|vscode|visual studio|\\bzed\\b";
  for (const char* folder : {"mcp", "paths", "tools", "commands"}) {
    const auto found = testing_support::RunProcess(
        {.arguments = {"grep", "-rniE", names,
                       std::string(LIMACTL_MCP_SOURCE_DIRECTORY) + "/plugin/" + folder}});
    std::istringstream lines(found.output);
    for (std::string line; std::getline(lines, line);) {
      // The protocol has a cursor too.
      EXPECT_TRUE(line.find("ursor") != line.npos && line.find("Cursor") == line.npos) << line;
    }
  }
}

TEST(WholeFile, AnothersFileIsLeftAlone) {
  const SettingsFile file = Named("vscode").settings(MakeRequest()).files[0];
  ASSERT_EQ(file.format, Format::kText);
  EXPECT_THROW((void)Add(file, "mine\n", false), support::CallError);
  const std::string changed = Add(file, std::nullopt, false).text.value() + "mine\n";
  EXPECT_EQ(Remove(file, changed).text, changed);
}

}  // namespace
}  // namespace agents
