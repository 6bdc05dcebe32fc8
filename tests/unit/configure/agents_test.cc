#include "configure/agents.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "configure/json_text.h"

namespace configure {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Request MakeRequest() {
  Request request;
  request.instance = "agent";
  request.project_key = "/home/u/project";
  request.launch = {"limactl", "mcp", "serve"};
  request.tools = {"glob", "read_file"};
  request.directories = {.home = "/home/u",
                         .config = "/home/u/.config",
                         .gemini_home = "/home/u",
                         .codex_home = "/home/u/.codex",
                         .claude_home = "",
                         .vscode_user = "/home/u/.config/Code/User"};
  return request;
}

const Agent& Named(std::string_view name) {
  for (const Agent& agent : Agents()) {
    if (agent.name == name) return agent;
  }
  throw std::runtime_error("no agent " + std::string(name));
}

/// Files as people write them.
std::vector<std::optional<std::string>> StartingTexts(Format format) {
  if (format == Format::kText) return {std::nullopt, "", " \r\n\n", "\xEF\xBB\xBF"};
  if (format == Format::kToml) {
    return {std::nullopt, "# only a comment\n", "model = 'x'\n\n[features] # mine\n\tweb = true\n",
            "model = \"x\"\r\n\r\n[mcp_servers.other] # o\r\ncommand = \"c\"\r\n",
            "[a]\nb = \"\"\"\n[mcp_servers.lima]\n\"\"\"\nc = [ # list\n  1,\n]\n\n\n# end\n"};
  }
  return {
      std::nullopt, "{\n  // mine\n  \"theme\": \"dark\", /* why */\n  \"list\": [1,2 , 3],\n}\n",
      "{\"theme\":\"dark\",\"mcpServers\":{\"other\":{\"command\":\"c\"}},\"tools\":{\"exclude\":["
      "\"mine\"]},\"permissions\":{\"deny\":[\"Mine\"]}}",
      "\xEF\xBB\xBF{\r\n\t\"theme\": \"dark\",\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {}\r\n"
      "\t},\r\n\t\"permission\": { \"webfetch\": \"ask\" }, // tail\r\n}\r\n",
      "// head\n{\n      \"context_servers\": { \"x\": { \"command\": \"c\" } },\n\n"
      "      \"agent\": { \"profiles\": { \"mine\": {} } },\n"
      "      \"hooks\": { \"preToolUse\": [ { \"command\": \"mine\" } ], \"stop\": [] },\n"
      "      \"servers\": { \"other\": {} }, \"mcp\": { \"other\": {} }\n      // end\n}\n// foot"};
}

class EveryAgent : public ::testing::TestWithParam<std::tuple<std::string, bool, bool>> {
 protected:
  EveryAgent() : agent_(Named(std::get<0>(GetParam()))), request_(MakeRequest()) {
    request_.user = std::get<1>(GetParam());
    request_.trust = std::get<2>(GetParam());
    request_.lima_home = "/l i/m\"a";
  }

  /// The settings where there are none yet.
  std::string AllNew() {
    std::string all;
    for (const SettingsFile& file : agent_.settings(request_).files) {
      all += Configure(file, std::nullopt).text;
    }
    return all;
  }

  const Agent& agent_;
  Request request_;
};

TEST_P(EveryAgent, LeavesEveryOtherByteAsItWas) {
  for (const SettingsFile& file : agent_.settings(request_).files) {
    for (const auto& before : StartingTexts(file.format)) {
      const auto [after, record] = Configure(file, before);
      EXPECT_EQ(Restore(file, after, record), before) << file.path << "\n" << after;
      if (!before || file.format == Format::kText) continue;
      // What was there is there still, in its order, between what is new.
      std::size_t at = 0;
      for (const char byte : *before) {
        at = after.find(byte, at);
        ASSERT_NE(at, std::string::npos) << file.path << "\n" << after;
        ++at;
      }
    }
  }
}

TEST_P(EveryAgent, CanBeUndoneAfterAFormatterHasRun) {
  for (const SettingsFile& file : agent_.settings(request_).files) {
    if (file.format != Format::kJson) continue;
    for (const auto& before : StartingTexts(file.format)) {
      const auto [after, record] = Configure(file, before);
      const std::string formatted = ValueOf(after, ParseJson(after)).dump(4);
      const std::optional<std::string> undone = Restore(file, formatted, record);
      ASSERT_EQ(undone.has_value(), before.has_value()) << *undone;
      if (before) {
        EXPECT_EQ(ValueOf(*undone, ParseJson(*undone)), ValueOf(*before, ParseJson(*before)));
      }
    }
  }
}

TEST_P(EveryAgent, FilesThatCannotBeReadAreRefused) {
  for (const SettingsFile& file : agent_.settings(request_).files) {
    EXPECT_THROW((void)Configure(file, "{\n\"a\": \n"), SettingsError) << file.path;
  }
}

TEST_P(EveryAgent, StartsTheServerForTheProjectAndPassesLimaHome) {
  const std::string all = AllNew();
  EXPECT_THAT(all, HasSubstr("limactl"));
  EXPECT_THAT(all, HasSubstr("--root"));
  EXPECT_THAT(all, HasSubstr("/l i/m\\\"a"));
  request_.lima_home.reset();
  EXPECT_THAT(AllNew(), Not(HasSubstr("LIMA_HOME")));
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
                         ::testing::Combine(::testing::Values("claude", "codex", "cursor", "gemini",
                                                              "opencode", "vscode", "zed"),
                                            ::testing::Bool(), ::testing::Bool()),
                         [](const auto& each) {
                           return std::get<0>(each.param) +
                                  (std::get<1>(each.param) ? "User" : "Project") +
                                  (std::get<2>(each.param) ? "Trusted" : "");
                         });

TEST(Words, AreBetweenSpaces) {
  EXPECT_EQ(Words(" a  b\nc "), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(Words("").empty());
}

TEST(Agents, AreSevenInAlphabeticalOrder) {
  std::vector<std::string_view> names;
  for (const Agent& agent : Agents()) names.push_back(agent.name);
  EXPECT_EQ(names.size(), 7U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

Json ReadFile(const std::string& agent, const Request& request, std::string_view path) {
  for (const SettingsFile& file : Named(agent).settings(request).files) {
    if (!file.path.ends_with(path)) continue;
    const std::string text = Configure(file, std::nullopt).text;
    return ValueOf(text, ParseJson(text));
  }
  throw std::runtime_error("no file " + std::string(path));
}

TEST(Agents, ClientsWaitLongerThanTheServer) {
  Request request = MakeRequest();
  request.project_files = true;
  EXPECT_EQ(ReadFile("gemini", request, "settings.json").at("mcpServers").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(ReadFile("claude", request, ".mcp.json").at("mcpServers").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(ReadFile("opencode", request, "opencode.json").at("mcp").at("lima").at("timeout"),
            600000);
  EXPECT_EQ(
      ReadFile("zed", request, "settings.json").at("context_servers").at("lima").at("timeout"),
      600);
  EXPECT_THAT(Configure(Named("codex").settings(request).files[0], std::nullopt).text,
              HasSubstr("\ntool_timeout_sec = 600\n"));
}

TEST(Agents, ClaudeKeepsTheServerOfAProjectInTheUsersOwnFile) {
  const Json settings = ReadFile("claude", MakeRequest(), "/home/u/.claude.json");
  const Json& servers = settings.at("projects").at("/home/u/project").at("mcpServers");
  EXPECT_EQ(servers.at("lima").at("command"), "limactl");
}

TEST(Agents, OpencodesRulesForAllToolsComeAfterTheUsers) {
  const SettingsFile file = Named("opencode").settings(MakeRequest()).files[0];
  const std::string text =
      Configure(file, "{\"permission\": {\"*\": \"ask\", \"bash\": \"ask\", \"b*\": \"allow\"}}")
          .text;
  EXPECT_LT(text.find("\"b*\": \"allow\""), text.find("\"**\": \"deny\"")) << text;
  EXPECT_LT(text.find("\"**\": \"deny\""), text.find("\"lima_**\": \"ask\"")) << text;
}

TEST(Agents, ClaudeAndCodexOfferTheToolsWithoutASearch) {
  const Request request = MakeRequest();
  const Json claude = ReadFile("claude", request, "/home/u/.claude.json");
  EXPECT_EQ(
      claude.at("projects").at("/home/u/project").at("mcpServers").at("lima").at("alwaysLoad"),
      true);
  const std::string codex = Configure(Named("codex").settings(request).files[0], std::nullopt).text;
  EXPECT_THAT(codex, HasSubstr("\nomit_tools_from = [\"deferred\"]\n"));
  EXPECT_THAT(codex, HasSubstr("\nsupports_parallel_tool_calls = true\n"));
}

TEST(Agents, PromptsAreSkippedOnlyWithTrust) {
  Request request = MakeRequest();
  const auto skips = [&](std::string_view agent) {
    std::string all;
    for (const SettingsFile& file : Named(agent).settings(request).files) {
      all += Configure(file, std::nullopt).text;
    }
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
  Request request = MakeRequest();
  request.user = true;
  EXPECT_EQ(Named("claude").settings(request).files[0].path, "/home/u/.claude/settings.json");
  EXPECT_EQ(Named("claude").settings(request).files[1].path, "/home/u/.claude.json");
  request.directories.claude_home = "/home/u/c";
  EXPECT_EQ(Named("claude").settings(request).files[0].path, "/home/u/c/settings.json");
  EXPECT_EQ(Named("claude").settings(request).files[1].path, "/home/u/c/.claude.json");
}

TEST(WholeFile, AnothersFileIsLeftAlone) {
  const SettingsFile file = Named("vscode").settings(MakeRequest()).files[0];
  ASSERT_EQ(file.format, Format::kText);
  EXPECT_THROW((void)Configure(file, "mine\n"), SettingsError);
  const auto [text, record] = Configure(file, std::nullopt);
  EXPECT_EQ(Restore(file, text + "mine\n", record), text + "mine\n");
}

}  // namespace
}  // namespace configure
