#include "configure/agents.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "configure/json_tree.h"
#include "configure/settings_error.h"

namespace configure {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

Request MakeRequest() {
  Request request;
  request.instance = "agent";
  request.project_key = "/home/u/project";
  request.launch = {"limactl", "mcp", "serve"};
  request.tools = {"glob", "read_file"};
  request.places = {.home = "/home/u",
                    .config = "/home/u/.config",
                    .gemini_home = "/home/u",
                    .codex_home = "/home/u/.codex",
                    .claude_home = "",
                    .vscode_user = "/home/u/.config/Code/User"};
  return request;
}

const Agent& Named(std::string_view name) {
  const Agent* agent = FindAgent(name);
  if (agent == nullptr) throw std::runtime_error("no agent " + std::string(name));
  return *agent;
}

/// Files as people have them: none of them as a program would write it.
std::vector<std::optional<std::string>> StartingTexts(Format format) {
  if (format == Format::kText) return {std::nullopt, "", " \r\n\n", "\xEF\xBB\xBF"};
  if (format == Format::kToml) {
    return {std::nullopt, "# only a comment\n", "model = 'x'\n\n[features] # mine\n\tweb = true\n",
            "\xEF\xBB\xBFmodel = \"x\"\r\n\r\n[mcp_servers.other] # o\r\ncommand = \"c\"\r\n",
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

/// What the agent wants in its file anyway, and what therefore stays.
SettingsFile OnlyDefaults(SettingsFile file) {
  if (file.format != Format::kText) {
    std::erase_if(file.changes,
                  [](const Change& change) { return change.kind != Change::Kind::kDefault; });
  }
  return file;
}

class EveryAgent : public ::testing::TestWithParam<std::tuple<std::string, bool, bool>> {
 protected:
  EveryAgent() : agent_(Named(std::get<0>(GetParam()))), request_(MakeRequest()) {
    request_.user = std::get<1>(GetParam());
    request_.trust = std::get<2>(GetParam());
    request_.lima_home = "/l i/m\"a";
  }

  std::string ConfiguredAll(std::size_t variant) {
    std::string all;
    for (const SettingsFile& file : agent_.files(request_)) {
      const auto texts = StartingTexts(file.format);
      all += Configured(file, texts[variant % texts.size()], false);
    }
    return all;
  }

  const Agent& agent_;
  Request request_;
};

TEST_P(EveryAgent, LeavesEveryOtherByteAsItWas) {
  for (const SettingsFile& file : agent_.files(request_)) {
    for (const auto& before : StartingTexts(file.format)) {
      const std::string after = Configured(file, before, HasEntry(file, before));
      const std::string defaults = Configured(OnlyDefaults(file), before, false);
      EXPECT_THAT(Unconfigured(file, after), AnyOf(before, std::make_optional(defaults)))
          << file.path << "\n"
          << after;
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

TEST_P(EveryAgent, TwiceChangesNothing) {
  for (const SettingsFile& file : agent_.files(request_)) {
    for (const auto& before : StartingTexts(file.format)) {
      const std::string once = Configured(file, before, false);
      EXPECT_EQ(Configured(file, once, true), once) << file.path;
      if (HasEntry(file, once)) continue;
      // Where the server is named in another file, which a broken run has not come to.
      const std::string again = Configured(file, once, false);
      EXPECT_EQ(Configured(file, again, false), again) << file.path;
    }
  }
}

TEST_P(EveryAgent, AnotherInstanceTakesThePlaceOfTheOneBefore) {
  Request other = request_;
  other.instance = "another";
  other.lima_home.reset();
  other.trust = false;
  const auto files = agent_.files(request_);
  const auto others = agent_.files(other);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string once = Configured(files[i], std::nullopt, false);
    const std::string changed = Configured(others[i], once, true);
    EXPECT_EQ(changed.find("\"agent\","), std::string::npos) << changed;
    EXPECT_EQ(changed.find("LIMA_HOME"), std::string::npos) << changed;
    EXPECT_EQ(Unconfigured(files[i], changed), std::nullopt) << changed;
  }
}

TEST_P(EveryAgent, FilesThatCannotBeReadAreRefused) {
  for (const SettingsFile& file : agent_.files(request_)) {
    EXPECT_THROW((void)Configured(file, "{\n\"a\": \n", false), SettingsError) << file.path;
    if (file.format == Format::kText) continue;
    EXPECT_THROW((void)Unconfigured(file, "{\n\"a\": \n"), SettingsError) << file.path;
    EXPECT_THROW((void)HasEntry(file, "{\n\"a\": \n"), SettingsError) << file.path;
  }
}

TEST_P(EveryAgent, StartsTheServerForTheProjectAndPassesLimaHome) {
  const std::string all = ConfiguredAll(0);
  EXPECT_THAT(all, HasSubstr("limactl"));
  EXPECT_THAT(all, HasSubstr("\"agent\", \"--root\""));
  EXPECT_THAT(all, HasSubstr("/l i/m\\\"a"));
  request_.lima_home.reset();
  EXPECT_THAT(ConfiguredAll(0), Not(HasSubstr("LIMA_HOME")));
}

TEST_P(EveryAgent, StaysInTheProjectOrTheHome) {
  request_.project_files = !request_.user;
  for (const SettingsFile& file : agent_.files(request_)) {
    EXPECT_EQ(file.path.starts_with("/home/u/"), request_.user) << file.path;
    EXPECT_EQ(file.path.starts_with('/'), request_.user) << file.path;
    EXPECT_THAT(file.path, Not(HasSubstr("..")));
  }
}

TEST_P(EveryAgent, NotesAreSentences) {
  for (const std::string& note : agent_.notes(request_)) EXPECT_TRUE(note.ends_with('.')) << note;
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

TEST(Agents, AreSevenInAlphabeticalOrder) {
  std::vector<std::string_view> names;
  for (const Agent& agent : Agents()) names.push_back(agent.name);
  EXPECT_EQ(names.size(), 7U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(FindAgent("emacs"), nullptr);
}

Json ReadFile(const std::string& agent, const Request& request, std::string_view path) {
  for (const SettingsFile& file : Named(agent).files(request)) {
    if (!file.path.ends_with(path)) continue;
    const std::string text = Configured(file, std::nullopt, false);
    return ValueOf(text, ParseJson(text));
  }
  throw std::runtime_error("no file " + std::string(path));
}

TEST(Agents, TimeOutsAreAboveTheServers) {
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
  EXPECT_THAT(Configured(Named("codex").files(request)[0], std::nullopt, false),
              HasSubstr("\ntool_timeout_sec = 600\n"));
}

TEST(Agents, ClaudeKeepsTheServerOfAProjectInTheUsersOwnFile) {
  const std::vector<SettingsFile> files = Named("claude").files(MakeRequest());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].path, "/home/u/.claude.json");
  const std::string text = Configured(files[1], std::nullopt, false);
  EXPECT_EQ(ValueOf(text, ParseJson(text))
                .at("projects")
                .at("/home/u/project")
                .at("mcpServers")
                .at("lima")
                .at("command"),
            "limactl");
}

TEST(Agents, OpencodeIsDeniedEveryToolThatIsNotNamedLater) {
  const std::string text =
      Configured(Named("opencode").files(MakeRequest())[0], std::nullopt, false);
  EXPECT_LT(text.find("\"*\": \"deny\""), text.find("\"lima_*\": \"ask\"")) << text;
  EXPECT_THAT(text, HasSubstr("\"task\": \"deny\""));
}

TEST(Agents, PromptsAreSkippedOnlyWithTrust) {
  Request request = MakeRequest();
  const auto skips = [&](std::string_view agent) {
    std::string all;
    for (const SettingsFile& file : Named(agent).files(request)) {
      all += Configured(file, std::nullopt, false);
    }
    for (const char* word :
         {"\"trust\": true", "mcp__lima", "enabledMcpjsonServers", "Mcp(lima:*)", "\"approve\""}) {
      if (all.find(word) != std::string::npos) return true;
    }
    return all.find("\"lima_*\": \"allow\"") != std::string::npos;
  };
  for (const Agent& agent : Agents()) EXPECT_FALSE(skips(agent.name)) << agent.name;
  request.trust = true;
  for (const char* agent : {"claude", "codex", "cursor", "gemini", "opencode"}) {
    EXPECT_TRUE(skips(agent)) << agent;
  }
}

TEST(Agents, TrustIsWithdrawnWhenItIsNotGivenAgain) {
  Request request = MakeRequest();
  const auto value = [](const SettingsFile& file, const std::string& text) {
    return file.format == Format::kJson ? nlohmann::json(ValueOf(text, ParseJson(text)))
                                        : nlohmann::json(text);
  };
  for (const Agent& agent : Agents()) {
    request.trust = true;
    const auto trusted = agent.files(request);
    request.trust = false;
    const auto plain = agent.files(request);
    for (std::size_t i = 0; i < trusted.size(); ++i) {
      const std::string before = Configured(trusted[i], std::nullopt, false);
      EXPECT_EQ(value(plain[i], Configured(plain[i], before, true)),
                value(plain[i], Configured(plain[i], std::nullopt, false)))
          << plain[i].path;
    }
  }
}

// Gemini compares the names in tools.exclude with those of MCP tools too, without the server's
// name.
TEST(Agents, GeminiKeepsTheToolsOfTheServer) {
  const Json names = ReadFile("gemini", MakeRequest(), "settings.json").at("tools").at("exclude");
  for (const char* tool : {"glob", "list_directory", "read_file", "replace", "run_shell_command",
                           "search_file_content", "grep_search", "write_file"}) {
    EXPECT_EQ(std::find(names.begin(), names.end(), tool), names.end()) << tool;
  }
}

TEST(Agents, ClaudeReadsItsSettingsWhereItIsTold) {
  Request request = MakeRequest();
  request.user = true;
  EXPECT_EQ(Named("claude").files(request)[0].path, "/home/u/.claude/settings.json");
  EXPECT_EQ(Named("claude").files(request)[1].path, "/home/u/.claude.json");
  request.places.claude_home = "/home/u/c";
  EXPECT_EQ(Named("claude").files(request)[0].path, "/home/u/c/settings.json");
  EXPECT_EQ(Named("claude").files(request)[1].path, "/home/u/c/.claude.json");
}

TEST(WholeFile, AnothersFileIsLeftAlone) {
  const SettingsFile file = Named("vscode").files(MakeRequest())[0];
  ASSERT_EQ(file.format, Format::kText);
  EXPECT_THROW((void)Configured(file, "mine\n", false), SettingsError);
  EXPECT_EQ(Unconfigured(file, "mine\n"), "mine\n");
  const std::string made = Configured(file, std::nullopt, false);
  EXPECT_THROW((void)Configured(file, made + "\nmine\n", true), SettingsError);
  EXPECT_EQ(Unconfigured(file, made + "\nmine\n"), made + "\nmine\n");
}

TEST(WholeFile, AnEmptyFileIsLikeNoneButComesBack) {
  const SettingsFile file = Named("vscode").files(MakeRequest())[0];
  const std::string made = Configured(file, std::nullopt, false);
  EXPECT_EQ(Unconfigured(file, made), std::nullopt);
  for (const std::string blanks : {"", " \n", "\xEF\xBB\xBF"}) {
    const std::string after = Configured(file, blanks, false);
    EXPECT_TRUE(after.starts_with(made)) << "its head must come first";
    EXPECT_EQ(Configured(file, after, true), after);
    EXPECT_EQ(Unconfigured(file, after), blanks);
    EXPECT_EQ(Unconfigured(file, blanks), blanks) << "nothing of ours is in there";
  }
}

TEST(Configured, AnEmptyFileIsLikeNoneButComesBack) {
  const SettingsFile file = Named("gemini").files(MakeRequest())[0];
  const std::string made = Configured(file, std::nullopt, false);
  EXPECT_EQ(Configured(file, " \n", false), " \n" + made + "\n");
  EXPECT_EQ(Unconfigured(file, " \n" + made + "\n"), " \n");
  EXPECT_EQ(Unconfigured(file, made), std::nullopt);
  EXPECT_EQ(Unconfigured(file, " \n" + made), std::nullopt) << "something has laid it out anew";
  EXPECT_EQ(Unconfigured(file, " \n"), " \n") << "nothing of ours is in there";
}

}  // namespace
}  // namespace configure
