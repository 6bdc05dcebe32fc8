// What each agent is started with. tests/clients/agents proves that it confines them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "agents/agent.h"
#include "support/errors.h"
#include "testing/temporary_directory.h"
#include "unit/agents/named.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using Words = std::vector<std::string>;

class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest() {
    fs::create_directory(top_ / "project");
    std::ofstream(top_ / "project/AGENTS.md") << "Mind @/etc/passwd.\n";
    request_.project = (top_ / "project").string();
    request_.directory = (top_ / "work/project").string();
    request_.home = (top_ / "home-of-agent").string();
    request_.control = (top_ / "control").string();
    request_.server = {"/bin/limactl-mcp", "serve", "agent"};
    request_.server_environment = {{"LIMA_HOME", "/lima"}};
    request_.tools = {"glob", "read_file"};
    request_.environment = {{"HOME", top_.string()}, {"PATH", "/bin"}};
    request_.arguments = {"-x", "words"};
  }

  Launch Make(std::string_view name) const { return Named(name).run->launch(request_); }
  static std::string Text(const Launch& launch, std::string_view ending) {
    for (const auto& [path, text] : launch.files) {
      if (path.ends_with(ending)) return text;
    }
    ADD_FAILURE() << "no file " << ending;
    return "{}";
  }

  testing_support::TemporaryDirectory directory_;
  fs::path top_ = directory_.path();
  LaunchRequest request_;
};

TEST_F(LaunchTest, WritesOnlyBelowItsOwnDirectories) {
  for (const Agent& agent : Agents()) {
    if (!agent.run) continue;
    const Launch launch = agent.run->launch(request_);
    for (const auto& [path, text] : launch.files) {
      const bool is_own = path.starts_with(request_.directory + "/") ||
                          path.starts_with(request_.home + "/") ||
                          path.starts_with(request_.control + "/");
      EXPECT_TRUE(is_own) << agent.name << ": " << path;
    }
  }
}

TEST_F(LaunchTest, PassesTheProjectsInstructions) {
  for (const Agent& agent : Agents()) {
    if (!agent.run) continue;
    const Launch launch = agent.run->launch(request_);
    const bool found = std::any_of(launch.files.begin(), launch.files.end(), [&](const auto& file) {
      return file.second.find("Mind ") != std::string::npos &&
             file.second.find(request_.project) != std::string::npos;
    });
    EXPECT_TRUE(found) << agent.name;
  }
}

TEST_F(LaunchTest, PassesTheUsersArgumentsAfterItsOwn) {
  for (const Agent& agent : Agents()) {
    if (!agent.run) continue;
    const std::vector<std::string> arguments = agent.run->launch(request_).arguments;
    ASSERT_GE(arguments.size(), 2U);
    EXPECT_EQ(arguments[arguments.size() - 2], "-x") << agent.name;
    EXPECT_EQ(arguments.back(), "words") << agent.name;
  }
}

TEST_F(LaunchTest, OfClaudeHasOneServerAndAnAllowListOfTools) {
  const Launch launch = Make("claude");
  const json server = json::parse(Text(launch, "/mcp.json"));
  EXPECT_EQ(server.at("mcpServers").size(), 1U);
  EXPECT_EQ(server.at("mcpServers").at("lima").at("command"), "/bin/limactl-mcp");
  EXPECT_THAT(launch.arguments, Contains("--strict-mcp-config"));
  EXPECT_THAT(launch.arguments, Contains("--setting-sources=user"));
  const json settings = json::parse(Text(launch, "/settings.json"));
  EXPECT_EQ(settings.at("permissions").at("allow"), json::array());
  EXPECT_THAT(settings.at("permissions").at("deny").get<std::vector<std::string>>(),
              Contains("Bash"));
}

TEST_F(LaunchTest, OfClaudeAllowsTheServerWithTrust) {
  request_.trust = true;
  const json settings = json::parse(Text(Make("claude"), "/settings.json"));
  EXPECT_EQ(settings.at("permissions").at("allow"), json::array({"mcp__lima"}));
}

TEST_F(LaunchTest, OfCodexHasAHomeWithoutAnEnvironmentForItsTools) {
  fs::create_directory(top_ / ".codex");
  std::ofstream(top_ / ".codex/config.toml")
      << "model = \"m\"\nnotify = [\"x\"]\n[mcp_servers.other]\ncommand = \"x\"\n";
  std::ofstream(top_ / ".codex/auth.json") << "{}";
  const Launch launch = Make("codex");
  EXPECT_THAT(launch.environment, Contains(Pair("CODEX_HOME", request_.home)));
  EXPECT_THAT(Text(launch, "/environments.toml"), HasSubstr("default = \"none\""));
  EXPECT_THAT(Text(launch, "/config.toml"),
              ::testing::AllOf(HasSubstr("model"), Not(HasSubstr("mcp_servers")),
                               Not(HasSubstr("notify"))));
  EXPECT_EQ(launch.links.at(request_.home + "/auth.json"), (top_ / ".codex/auth.json").string());
}

TEST_F(LaunchTest, OfCodexSkipsItsCheckForGitOnce) {
  for (const Words& arguments : {Words{"exec", "x"}, Words{"exec", "--skip-git-repo-check", "x"}}) {
    request_.arguments = arguments;
    const Words all = Make("codex").arguments;
    EXPECT_EQ(std::count(all.begin(), all.end(), "--skip-git-repo-check"), 1);
  }
}

TEST_F(LaunchTest, OfCodexPassesItsSettingsAsToml) {
  request_.server_environment = {{"A", "/a\"\\\n\xC3\xA4"}};
  const Words arguments = Make("codex").arguments;
  EXPECT_THAT(arguments, Contains(HasSubstr("\"A\" = \"/a\\\"\\\\\\n\xC3\xA4\"")));
  EXPECT_THAT(arguments, Contains("projects={\"" + request_.directory +
                                  "\" = {\"trust_level\" = \"trusted\"}}"));
  EXPECT_THAT(arguments, Contains(HasSubstr("\"enabled_tools\" = [\"glob\", \"read_file\"]")));
}

TEST_F(LaunchTest, OfCodexReportsASettingsFileThatIsNotToml) {
  fs::create_directory(top_ / ".codex");
  std::ofstream(top_ / ".codex/config.toml") << "model = \n";
  EXPECT_THAT([this] { (void)Make("codex"); },
              ::testing::ThrowsMessage<support::CallError>(HasSubstr(".codex/config.toml")));
}

TEST_F(LaunchTest, OfCodexLogsInWithoutACatalogueOfModels) {
  const auto use_output = Named("codex").run->use_output;
  Launch launch;
  EXPECT_THROW(use_output(request_, "not logged in", launch), support::CallError);
  request_.arguments = {"login"};
  use_output(request_, "not logged in", launch);
  EXPECT_TRUE(launch.files.empty());
}

TEST_F(LaunchTest, OfCopilotHasAListOfToolsAndOneServer) {
  request_.environment.merge(Environment{{"COPILOT_ALLOW_ALL", "true"},
                                         {"COPILOT_CLI_DIST_DIR", "/x"},
                                         {"GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS", "1"},
                                         {"COPILOT_GITHUB_TOKEN", "token"},
                                         {"COPILOT_PROVIDER_TYPE", "azure"}});
  const Launch launch = Make("copilot");
  EXPECT_THAT(launch.arguments, Contains("--available-tools=ask_user,exit_plan_mode,"
                                         "task_complete,web_fetch,lima"));
  for (const char* kind : {"shell", "write", "read", "memory"}) {
    EXPECT_THAT(launch.arguments, Contains("--deny-tool=" + std::string(kind)));
  }
  for (const char* tool : {"custom:[*]", "bash", "create", "edit", "lsp", "task", "view"}) {
    const std::string list = "^--excluded-tools=(.*,)?" + std::string(tool) + "(,|$)";
    EXPECT_THAT(launch.arguments, Contains(::testing::ContainsRegex(list)));
  }
  EXPECT_THAT(launch.arguments,
              Contains("--additional-mcp-config=@" + request_.control + "/mcp.json"));
  const json server = json::parse(Text(launch, "/control/mcp.json"));
  EXPECT_EQ(server.at("mcpServers").size(), 1U);
  EXPECT_EQ(server.at("mcpServers").at("lima").at("command"), "/bin/limactl-mcp");
  EXPECT_EQ(server.at("mcpServers").at("lima").at("timeout"), 600'000);
  EXPECT_EQ(launch.environment, (Environment{{"HOME", top_.string()},
                                             {"PATH", "/bin"},
                                             {"COPILOT_AUTO_UPDATE", "false"},
                                             {"COPILOT_DISABLE_RESUME_AUTO_CD", "1"},
                                             {"COPILOT_GITHUB_TOKEN", "token"},
                                             {"COPILOT_HOME", request_.home},
                                             {"COPILOT_LARGE_OUTPUT_THRESHOLD_BYTES", "200000"},
                                             {"COPILOT_PROVIDER_TYPE", "azure"}}));
}

TEST_F(LaunchTest, OfCopilotAllowsTheServerWithTrust) {
  EXPECT_THAT(Make("copilot").arguments, Not(Contains(HasSubstr("--allow-tool"))));
  request_.trust = true;
  EXPECT_THAT(Make("copilot").arguments, Contains("--allow-tool=lima"));
}

TEST_F(LaunchTest, OfCopilotUsesTheUsersModelLoginAndInstructionsAlone) {
  fs::create_directory(top_ / ".copilot");
  std::ofstream(top_ / ".copilot/settings.json")
      << "{\"model\": \"m\", \"hooks\": {}, \"statusLine\": {}, \"memory\": true}";
  std::ofstream(top_ / ".copilot/config.json")
      << "// Its own.\n{\"authTokens\": {\"a\": \"1\"}, \"trustedFolders\": [\"/\"]}";
  std::ofstream(top_ / ".copilot/copilot-instructions.md") << "mine";
  const Launch launch = Make("copilot");
  const json settings = json::parse(Text(launch, "/settings.json"));
  EXPECT_EQ(settings.at("model"), "m");
  EXPECT_EQ(settings.at("memory"), false);
  EXPECT_EQ(settings.at("disableAllHooks"), true);
  EXPECT_FALSE(settings.contains("hooks"));
  EXPECT_FALSE(settings.contains("statusLine"));
  EXPECT_EQ(json::parse(Text(launch, "/config.json")),
            json({{"authTokens", {{"a", "1"}}}, {"trustedFolders", {request_.directory}}}));
  ASSERT_EQ(launch.links.size(), 1U);
  EXPECT_EQ(launch.links.begin()->second, (top_ / ".copilot/copilot-instructions.md").string());
}

TEST_F(LaunchTest, OfCopilotKeepsALoginOfItsOwn) {
  fs::create_directories(request_.home);
  std::ofstream(request_.home + "/config.json")
      << "{\"authTokens\": {\"a\": \"old\", \"b\": \"2\"}, \"trustedFolders\": [\"/\"]}";
  fs::create_directory(top_ / ".copilot");
  std::ofstream(top_ / ".copilot/config.json") << "{\"authTokens\": {\"a\": \"new\"}}";
  const json config = json::parse(Text(Make("copilot"), "/config.json"));
  EXPECT_EQ(config.at("authTokens"), json({{"a", "new"}, {"b", "2"}}));
  EXPECT_EQ(config.at("trustedFolders"), json::array({request_.directory}));
  request_.arguments = {"login", "--device-code"};
  EXPECT_EQ(Make("copilot").arguments, request_.arguments) << "other options are unknown to it";
}

TEST_F(LaunchTest, OfCopilotDependsOnSettingsLoginAndProgram) {
  const auto own_settings = [](const Environment& environment) {
    Words paths;
    for (const OwnPath& own : Named("copilot").run->own_settings) {
      paths.push_back(own.In(environment));
    }
    return paths;
  };
  EXPECT_EQ(own_settings({{"HOME", "/h"}}), (Words{"/h/.copilot", "/h/.agents", "/h/.config/gh",
                                                   "/h/.cache/copilot", "/h/.cache/copilot"}));
  EXPECT_EQ(own_settings({{"HOME", "/h"},
                          {"COPILOT_HOME", "/c"},
                          {"COPILOT_CACHE_HOME", "/z"},
                          {"XDG_CONFIG_HOME", "/x"},
                          {"XDG_CACHE_HOME", "/y"}}),
            (Words{"/c", "/h/.agents", "/x/gh", "/z", "/y/copilot"}));
}

TEST_F(LaunchTest, OfGeminiDeniesAllOtherTools) {
  const Launch launch = Make("gemini");
  const std::string policy = Text(launch, "/policy.toml");
  EXPECT_THAT(policy, HasSubstr("toolName = \"*\"\ndecision = \"deny\"\npriority = 900"));
  EXPECT_THAT(policy, HasSubstr("toolName = [\"mcp_lima_glob\",\"mcp_lima_read_file\"]\n"
                                "decision = \"ask_user\"\npriority = 990"));
  EXPECT_THAT(Text(launch, "/GEMINI.md"), HasSubstr("Mind \\@/etc/passwd")) << "no import";
}

TEST_F(LaunchTest, OfOpencodeDeniesAllOtherTools) {
  const auto rules =
      nlohmann::ordered_json::parse(Make("opencode").environment.at("OPENCODE_PERMISSION"));
  EXPECT_EQ(rules.begin().key(), "**");
  EXPECT_EQ(rules.begin().value(), "deny");
  EXPECT_EQ(rules.at("lima_**"), "ask");
}

TEST_F(LaunchTest, OfOpencodeUsesTheUsersModelButNoServers) {
  fs::create_directories(top_ / ".config/opencode");
  std::ofstream(top_ / ".config/opencode/opencode.json")
      << "{\"model\": \"m\", /* mine */ \"mcp\": {\"other\": {}}, \"plugin\": [\"x\"]}";
  const json settings = json::parse(Text(Make("opencode"), "/opencode/opencode.json"));
  EXPECT_EQ(settings, json({{"model", "m"}}));
}

TEST_F(LaunchTest, OfOpencodeReadsSettingsWithATrailingComma) {
  fs::create_directories(top_ / ".config/opencode");
  std::ofstream(top_ / ".config/opencode/opencode.jsonc") << "{\"model\": \"m\",}\n";
  EXPECT_EQ(json::parse(Text(Make("opencode"), "/opencode/opencode.json")), json({{"model", "m"}}));
  ASSERT_EQ(::mkfifo((top_ / ".config/opencode/opencode.json").c_str(), 0600), 0);
  EXPECT_EQ(json::parse(Text(Make("opencode"), "/opencode/opencode.json")), json({{"model", "m"}}));
}

TEST_F(LaunchTest, OfOpencodeRefusesSettingsThatItAlwaysReads) {
  fs::create_directories(top_ / ".opencode/agent");
  (void)Make("opencode");
  std::ofstream(top_ / ".opencode/agent/build.md") << "bash: allow";
  EXPECT_THROW(Make("opencode"), support::CallError);
}

}  // namespace
}  // namespace agents
