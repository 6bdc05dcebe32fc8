// SPDX-License-Identifier: Apache-2.0
// What tests/suites cannot see of the agents: run*.txt and configure.txt have the rest.

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "agents/common.h"
#include "support/regex.h"
#include "testing/child_process.h"
#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace agents {
namespace {

using mcp::ResultStyle;
using ::testing::_;
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

TEST(ParseJson, ReadsWhatPeopleAndAgentsWrite) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"a": [1, -2.5e3, true, null, "x\"\u00e4"], "b": {}})",
       R"({"a": [1, -2.5e3, true, null, "x\"\u00e4"], "b": {}})"},
      {"// one\r\n{ /* two, */ \"a\": [1, 2,], // three,\n}\n/* four */", R"({"a": [1, 2]})"},
      {R"({"url": "https://x/*y*/", "end": "\\"})", R"({"url": "https://x/*y*/", "end": "\\"})"},
      {R"({"a": ",]", "b": "\",}" /* "c */ ,})", R"({"a": ",]", "b": "\",}"})"},
      {"{\"a\": [1, // \"one\"\n /* , ] */ ], }", R"({"a": [1]})"},
      {"\xEF\xBB\xBF{\"a\": 1}", R"({"a": 1})"}};
  for (const auto& [text, json] : cases) EXPECT_EQ(ParseJson(text), Json::parse(json)) << text;
}

TEST(ParseJson, NamesTheLineOfAnError) {
  for (const auto& [text, line] : {std::pair{"{\n  \"a\": [1, 2\n}\n", ":3: "},
                                   {"{\n/* one\n */ \"b\": [1,],\n \"a\" 1}", ":4: "},
                                   {"{\"a\": \"\xFF\"}", ":1: "},
                                   {"{} /* x", ":1: "},
                                   {"", ":1: "}}) {
    EXPECT_THAT(testing_support::ErrorOf([&each = text] { (void)ParseJson(each); }),
                ::testing::StartsWith(line));
  }
}

TEST(ReadSettings, TakesFilesUpToALimit) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() / "settings.json";
  EXPECT_EQ(ReadSettings(path), Json::object()) << "there is none";
  testing_support::WriteFile(path, "{\"a\": 1}" + std::string(kMaxSettingsBytes - 8, ' '));
  EXPECT_EQ(ReadSettings(path), Json({{"a", 1}}));
  testing_support::WriteFile(path, std::string(kMaxSettingsBytes + 1, ' '));
  EXPECT_THAT(testing_support::ErrorOf([&] { (void)ReadSettings(path); }),
              HasSubstr("larger than 16MiB"));
}

/// What the server's command and variables may be: all that a shell, JSON or a link could change.
ServerRequest HostileRequest() {
  ServerRequest request;
  request.server = {"/a b/limactl",
                    "mcp",
                    "serve",
                    "a'b",
                    "$(touch x)",
                    "`id`",
                    "\"q\"",
                    "back\\slash",
                    "",
                    " ",
                    "\xC3\xA4\xE2\x82\xAC",
                    "!x",
                    "*",
                    "~",
                    "#",
                    "{a,b}",
                    "%41",
                    "+&=/?",
                    "a\nb",
                    "--root=/x y",
                    "--env=x",
                    "-e",
                    "--timeout",
                    "$HOME",
                    "--"};
  request.server_environment = {{"LIMA_HOME", "/l i/'m\"a$x"}};
  request.environment = {{"HOME", "/home/u"}};
  request.tools = {"glob"};
  return request;
}

/// The arguments with which the step's command, as it is printed, starts a program.
std::vector<std::string> ArgumentsOf(const Step& step) {
  const testing_support::TemporaryDirectory directory;
  const std::string stand_in = directory.path() / "stand-in";
  testing_support::WriteFile(stand_in, "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n");
  std::filesystem::permissions(stand_in, std::filesystem::perms::owner_all);
  for (const char* name : {"claude", "codex", "copilot", "gemini", "code", "open", "xdg-open"}) {
    std::filesystem::create_symlink(stand_in, directory.path() / name);
  }
  const auto ended = testing_support::RunProcess(
      {.arguments = {"sh", "-c", "PATH=$0:$PATH; eval \"$1\"", directory.path(), step.lines}});
  EXPECT_EQ(ended.error, "");
  std::vector<std::string> words;
  std::istringstream output(ended.output);
  for (std::string word; std::getline(output, word, '\0');) words.push_back(word);
  return words;
}

/// The server's command and variables in an agent's entry.
void ExpectServer(const ServerRequest& request, const Json& entry, const char* root) {
  std::vector<std::string> words = entry.value("args", std::vector<std::string>());
  Json command = entry.at("command");
  if (command.is_string()) command = Json::array({command});
  const auto first = command.get<std::vector<std::string>>();
  words.insert(words.begin(), first.begin(), first.end());
  EXPECT_EQ(words, ServerCommand(request, root));
  EXPECT_EQ(entry.value(entry.contains("env") ? "env" : "environment", Environment()),
            request.server_environment);
}

TEST(SetUp, GivesAgentsTheServerByTheirOwnCommands) {
  const ServerRequest request = HostileRequest();
  for (const auto& [agent, begin] :
       {std::pair<Agent, std::vector<std::string>>{Codex(), {"mcp", "add", "lima"}},
        {Copilot(), {"mcp", "add", "lima", "--timeout", "600000"}},
        {Gemini(), {"mcp", "add", "--timeout", "600000", "lima", "/a b/limactl"}}}) {
    std::vector<std::string> words = begin;
    words.insert(words.end(), {"--env", "LIMA_HOME=/l i/'m\"a$x", "--"});
    const std::vector<std::string> server = ServerCommand(request, kWorkingDirectory);
    words.insert(words.end(), server.begin() + (agent.name == "gemini" ? 1 : 0), server.end());
    EXPECT_EQ(ArgumentsOf(agent.set_up(request).front()), words);
  }
}

TEST(SetUp, GivesAgentsAndEditorsTheServerAsJson) {
  const ServerRequest request = HostileRequest();
  const auto claude = ArgumentsOf(Claude().set_up(request).front());
  EXPECT_THAT(claude, ::testing::ElementsAre("mcp", "add-json", "lima", _));
  ExpectServer(request, Json::parse(claude.back()), kWorkingDirectory);
  const auto vscode = ArgumentsOf(Vscode().set_up(request).front());
  EXPECT_THAT(vscode, ::testing::ElementsAre("--add-mcp", HasSubstr(R"({"name":"lima",)")));
  ExpectServer(request, Json::parse(vscode.back()), kWorkspaceFolder);
  const Json opencode = Json::parse(Opencode().set_up(request).front().lines);
  ExpectServer(request, opencode["mcp"][kServer], kWorkingDirectory);
  const Json zed = Json::parse(Zed().set_up(request).front().lines);
  ExpectServer(request, zed["context_servers"][kServer], kWorkingDirectory);
}

TEST(SetUp, GivesCursorALinkWithTheServer) {
  const ServerRequest request = HostileRequest();
  const auto words = ArgumentsOf(Cursor().set_up(request).front());
  ASSERT_EQ(words.size(), 1U);
  std::string config;
  ASSERT_TRUE(support::Regex("cursor://anysphere\\.cursor-deeplink/mcp/install\\?name=lima&"
                             "config=([A-Za-z0-9%]*)")
                  .FullMatch(words.front(), &config));
  const auto decoded = testing_support::RunProcess(
      {.arguments = {"sh", "-c",
                     "printf %s \"$0\" | sed 's/%2B/+/g; s,%2F,/,g; s/%3D/=/g' | base64 -d",
                     config}});
  ExpectServer(request, Json::parse(decoded.output), kWorkspaceFolder);
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
  for (const paths::HostProgram& row : ObeyedFiles()) {
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
                     kSources, "server/mcp", "server/paths", "server/tools", "commands"}});
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
    for (const paths::HostProgram& row : agent.obeys) {
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

}  // namespace
}  // namespace agents
