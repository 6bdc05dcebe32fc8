// SPDX-License-Identifier: Apache-2.0
// What tests/suites cannot see of the agents: run*.txt and configure.txt have the rest.

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "agents/common.h"
#include "configure/json_text.h"
#include "testing/child_process.h"
#include "testing/files.h"

namespace agents {
namespace {

using configure::ParseJson;
using mcp::ResultStyle;
using ::testing::HasSubstr;

constexpr const char* kSources = LIMACTL_MCP_SOURCE_DIRECTORY;

TEST(KnownAgents, GetTextAndOthersTheContractUnlessTheUserDecides) {
  for (const char* name :
       {"claude-code", "codex-mcp-client", "copilot-cli", "gemini-cli-mcp-client", "opencode",
        "cursor-vscode", "Visual Studio Code - Insiders", "Zed"}) {
    EXPECT_EQ(FormatFor(name).style, ResultStyle::kText) << name;
  }
  for (const char* name : {"", "mcp", "a claude-code", "Visual Studio"}) {
    EXPECT_EQ(FormatFor(name).style, ResultStyle::kStructured) << name;
  }
  EXPECT_LT(FormatFor("opencode").text_bytes, 50'000U);
  EXPECT_EQ(FormatFor("opencode", ResultStyle::kStructured).style, ResultStyle::kStructured);
  EXPECT_EQ(FormatFor("mcp", ResultStyle::kText).style, ResultStyle::kText);
}

/// Files as people write them.
const std::vector<std::string> kStartingTexts = {
    "{\n  // mine\n  \"theme\": \"dark\", /* why */\n  \"list\": [1,2 , 3],\n}\n",
    R"({"theme":"dark","mcpServers":{"other":{"command":"c"}},"tools":{"exclude":["mine"]},)"
    R"("permissions":{"deny":["Mine"]}})",
    "{\r\n\t\"theme\": \"dark\",\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {}\r\n"
    "\t},\r\n\t\"permission\": { \"bash\": \"ask\" }, // tail\r\n}\r\n",
    R"(// head
{
      "context_servers": { "x": { "command": "c" } },

      "agent": { "profiles": { "mine": {} } },
      "hooks": { "preToolUse": [ { "command": "mine" } ], "stop": [] },
      "servers": { "other": {} }, "mcp": { "other": {} }
      // end
}
// foot)"};

/// Calls `check` for each JSON file of each agent, in the project and the home, with trust and
/// without, and each text that it may have.
void ForEachFile(
    const std::function<void(const SettingsFile&, bool trust, const std::string& before)>& check) {
  for (const Agent& agent : Agents()) {
    for (const auto& [user, trust] : {std::pair(false, false), std::pair(false, true),
                                      std::pair(true, false), std::pair(true, true)}) {
      SettingsRequest request;
      request.project_key = "/home/u/project";
      request.server = {"limactl", "mcp", "serve", "agent"};
      request.server_environment = {{"LIMA_HOME", "/l i/m\"a"}};
      request.tools = {"glob", "read_file"};
      request.environment = {{"HOME", "/home/u"}};
      request.user = user;
      request.trust = trust;
      for (const SettingsFile& file : agent.settings(request).files) {
        if (file.format != configure::Format::kJson) continue;
        for (std::string text : kStartingTexts) {
          // With what always stays, as Cursor needs it.
          if (!file.initial.empty()) text = Remove(file, Add(file, text, true).text).text.value();
          check(file, trust, text);
        }
      }
    }
  }
}

TEST(Settings, LeaveEveryOtherByteAsItWas) {
  ForEachFile([](const SettingsFile& file, bool trust, const std::string& before) {
    const configure::Edited added = Add(file, before, trust);
    EXPECT_THAT(added.lines, ::testing::IsEmpty());
    EXPECT_EQ(Add(file, added.text, trust).text, added.text) << file.path;
    EXPECT_EQ(Remove(file, added.text).text, before) << *added.text;
    // What was there is there still, in its order, between what is new.
    std::size_t at = 0;
    for (const char byte : before) {
      at = added.text->find(byte, at);
      ASSERT_NE(at, std::string::npos) << file.path << "\n" << *added.text;
      ++at;
    }
  });
}

TEST(Settings, CanBeRemovedAfterAFormatterHasRun) {
  ForEachFile([](const SettingsFile& file, bool trust, const std::string& before) {
    const std::string formatted = ParseJson(Add(file, before, trust).text.value()).dump(4);
    EXPECT_EQ(ParseJson(Remove(file, formatted).text.value()), ParseJson(before));
  });
}

TEST(Sessions, HaveSettingsByTheirWordsNotTheirCharacters) {
  const auto control = [](const std::vector<std::string>& server) {
    LaunchRequest request;
    request.server = server;
    SetDirectories("/state", Codex(), request);
    return request.settings_directory;
  };
  EXPECT_NE(control({"ab", "c"}), control({"a", "bc"}));
}

TEST(ObeyedFiles, HaveAProgramAndAShortReason) {
  for (const exposure::HostProgram& row : ObeyedFiles()) {
    EXPECT_FALSE(row.patterns.empty() || row.program.empty()) << row.patterns;
    EXPECT_LT(std::count(row.reason.begin(), row.reason.end(), ' '), 10) << row.reason;
  }
}

// What users read of the command line may name them.
TEST(Agents, AreNamedInNoOtherFolder) {
  const auto found = testing_support::RunProcess(
      {.arguments = {"sh", "-c",
                     "cd \"$0\"/plugin && { grep --exclude=command_table.cc -rnE '\\bCursor\\b' "
                     "\"$@\"; grep --exclude=command_table.cc -rniE "
                     "'claude|codex|copilot|gemini|opencode|vscode|visual studio|\\bzed\\b' "
                     "\"$@\"; }",
                     kSources, "mcp", "paths", "tools", "commands"}});
  EXPECT_EQ(found.output + found.error, "");
}

std::string Document(const std::string& name) {
  return testing_support::ReadFile(std::string(kSources) + "/docs/" + name);
}

/// From `begin`, up to `end` behind it; empty if that is not there.
std::string Part(const std::string& document, const std::string& begin, const std::string& end) {
  const std::size_t at = document.find(begin);
  return at == document.npos ? "" : document.substr(at, document.find(end, at + 1) - at);
}

/// A cell of a table: words as code.
std::string Cell(const std::vector<std::string_view>& words) {
  std::string cell;
  for (const std::string_view word : words) cell.append(" `").append(word).append("`");
  return cell + " |";
}

TEST(Documents, HaveATableOfTheAgents) {
  const std::string table = Part(Document("agents.md"), "| agent | program |", "\n\n");
  for (const Agent& agent : Agents()) {
    std::vector<std::string_view> obeyed;
    for (const exposure::HostProgram& row : agent.obeys) {
      for (const std::string_view pattern : Words(row.patterns)) obeyed.push_back(pattern);
    }
    EXPECT_THAT(table, HasSubstr("\n| " + std::string(agent.title) + " |" +
                                 Cell(Words(agent.programs)) + Cell(agent.clients) + Cell(obeyed)));
  }
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + std::ssize(Agents()));
}

TEST(Documents, NameTheOldestVersionsThatAreConfined) {
  for (const Agent& agent : Agents()) {
    if (!agent.run) continue;
    EXPECT_THAT(Part(Document("agents.md"), "\n## " + std::string(agent.title) + "\n", "\n## "),
                HasSubstr(support::ToString(agent.run->oldest) + ", the oldest accepted."));
  }
}

TEST(Documents, NameTheFilesThatConfigureWrites) {
  const std::string table = Part(Document("configure.md"), "\n## Files per agent\n", "\n## ");
  SettingsRequest request;
  request.server = {"limactl"};
  for (const bool project_files : {false, true}) {
    request.project_files = project_files;
    for (const Agent& agent : Agents()) {
      const std::string row = Part(
          table, "\n| `" + std::string(agent.name) + "` " + std::string(agent.title) + " |", "\n");
      for (const SettingsFile& file : agent.settings(request).files) {
        if (file.path.starts_with('/')) continue;  // the user's own
        EXPECT_THAT(row, HasSubstr("`" + file.path + "`"));
        EXPECT_THAT(row, HasSubstr(file.alternative));
      }
    }
  }
}

}  // namespace
}  // namespace agents
