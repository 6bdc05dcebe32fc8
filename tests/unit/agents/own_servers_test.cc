// The user's own servers: what is refused, and what each agent is told of them.
// tests/clients/agents/servers.test.mjs proves that it does so.

#include "agents/own_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "support/errors.h"
#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"
#include "unit/agents/named.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using configure::Json;
using nlohmann::json;
using support::CallError;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::WriteFile;

class OwnServersTest : public ::testing::Test {
 protected:
  OwnServersTest() {
    for (const char* name :
         {"bin", "project", "home/.codex", "home/.gemini", "home/.config/opencode"})
      fs::create_directories(top_ / name);
    WriteFile(top_ / "bin/tool", "#!/bin/sh\n");
    fs::permissions(top_ / "bin/tool", fs::perms::owner_all);
    request_.project = (top_ / "project").string();
    request_.directory = (top_ / "work/project").string();
    request_.home = (top_ / "kept").string();
    request_.control = (top_ / "control").string();
    request_.server = {"/bin/limactl-mcp", "serve", "agent"};
    request_.tools = {"glob"};
    request_.environment = {{"HOME", (top_ / "home").string()}, {"PATH", (top_ / "bin").string()}};
    request_.guest_shell = {"/bin/limactl", "shell", "--workdir=/in it", "agent", "sh", "-c"};
    lima::Mount mount;
    mount.location = request_.project;
    mount.writable = true;
    reach_ = paths::GuestReach({mount});
  }

  /// The user's settings of the agent have the server `name` with this program and these arguments,
  /// which may be called unasked.
  void AddToSettings(std::string_view agent, const std::string& name, const json& command,
                     const json& arguments, const json& more = json::object()) {
    json entry = {{"command", command}, {"args", arguments}, {"trust", true}};
    entry.update(more);
    const fs::path home = top_ / "home";
    if (agent == "claude")
      WriteFile(home / ".claude.json", json{{"mcpServers", {{name, entry}}}}.dump());
    if (agent == "gemini")
      WriteFile(home / ".gemini/settings.json", json{{"mcpServers", {{name, entry}}}}.dump());
    if (agent == "codex") {
      WriteFile(home / ".codex/config.toml", "[mcp_servers." + name + "]\ncommand = " +
                                                 command.dump() + "\nargs = " + arguments.dump() +
                                                 "\ndefault_tools_approval_mode = \"approve\"\n");
    }
    if (agent == "opencode") {
      entry["command"] = json::array({command});
      entry["command"].insert(entry["command"].end(), arguments.begin(), arguments.end());
      WriteFile(home / ".config/opencode/opencode.jsonc", json{{"mcp", {{name, entry}}}}.dump());
    }
  }

  std::string RefusalOfGuest(const std::string& value) {
    try {
      AddGuestServer(value, request_);
    } catch (const CallError& error) {
      return error.what();
    }
    return "";
  }
  std::string RefusalOfHost(const std::string& name, std::string_view agent) {
    try {
      AddHostServer(name, Named(agent), reach_, request_);
    } catch (const CallError& error) {
      return error.what();
    }
    return "";
  }

  testing_support::TemporaryDirectory directory_;
  fs::path top_ = directory_.path();
  LaunchRequest request_;
  paths::GuestReach reach_;
};

std::vector<std::string_view> Confined() {
  std::vector<std::string_view> names;
  for (const Agent& agent : Agents()) {
    if (agent.run) names.push_back(agent.name);
  }
  return names;
}

/// Those that can have servers on the host.
std::vector<std::string_view> ThatAsk() {
  std::vector<std::string_view> names = Confined();
  std::erase(names, "copilot");
  return names;
}

TEST_F(OwnServersTest, InTheGuestHaveANameAndACommand) {
  for (const char* value : {"", "db", "db=", "=x"}) EXPECT_NE(RefusalOfGuest(value), "") << value;
  EXPECT_THAT(RefusalOfGuest("db"), HasSubstr("write NAME=COMMAND"));
  EXPECT_EQ(RefusalOfGuest("db=a=b 'c'"), "");
  EXPECT_EQ(request_.servers.at(0).name, "db");
  EXPECT_EQ(request_.servers.at(0).command, "a=b 'c'");
}

TEST_F(OwnServersTest, HaveNamesThatCannotPassForOthers) {
  for (const char* name : {"a b", "a.b", "../a", "\xC3\xA4", "a\n", "-y", "_y", ""}) {
    EXPECT_THAT(RefusalOfGuest(std::string(name) + "=x"), HasSubstr("is not a letter or digit"))
        << name;
  }
  EXPECT_THAT(RefusalOfGuest("Lima=x"), HasSubstr("another server is called \"Lima\""));
  EXPECT_EQ(RefusalOfGuest("lima_x=x"), "");
  EXPECT_EQ(request_.servers.at(0).name, "lima-x") << "its tool is not lima_x_…";
  for (const char* name : {"lima_x", "lima-x", "LIMA-X"}) {
    EXPECT_THAT(RefusalOfGuest(std::string(name) + "=x"), HasSubstr("choose another name")) << name;
  }
}

TEST_F(OwnServersTest, OnTheHostAreReadFromTheUsersSettingsOfTheAgent) {
  for (const std::string_view agent : ThatAsk()) {
    const std::string title(Named(agent).title);
    request_.servers.clear();
    for (const char* name :
         {"project/.mcp.json", "project/.gemini/settings.json", "project/opencode.json"}) {
      fs::create_directories((top_ / name).parent_path());
      WriteFile(top_ / name, R"({"mcpServers": {"planted": {"command": "tool"}},
                                 "mcp": {"planted": {"command": ["tool"]}}})");
    }
    EXPECT_THAT(RefusalOfHost("planted", agent),
                AllOf(HasSubstr("your own settings of " + title), HasSubstr("add it there first")));
    AddToSettings(agent, "own_db", "tool", {"-y", "db"});
    EXPECT_THAT(RefusalOfHost("db", agent), HasSubstr("no server \"db\"; there are: own_db"))
        << agent;
    EXPECT_EQ(RefusalOfHost("own_db", agent), "") << agent;
    ASSERT_EQ(request_.servers.size(), 1U);
    EXPECT_EQ(request_.servers[0].name, "own-db");
    const Json& entry = request_.servers[0].entry;
    EXPECT_THAT(entry.dump(), AllOf(HasSubstr("\"tool\""), HasSubstr("\"-y\""))) << agent;
    EXPECT_FALSE(entry.contains("trust")) << agent;
    EXPECT_FALSE(entry.contains("default_tools_approval_mode")) << agent;
    EXPECT_THAT(RefusalOfHost("own_db", agent), HasSubstr("choose another name"));
  }
}

TEST_F(OwnServersTest, OfOneProjectInClaudesSettingsAreNotTheUsersOwn) {
  WriteFile(
      top_ / "home/.claude.json",
      json{{"projects", {{request_.project, {{"mcpServers", {{"db", {{"command", "tool"}}}}}}}}}}
          .dump());
  EXPECT_THAT(RefusalOfHost("db", "claude"), HasSubstr("add it there first"));
}

TEST_F(OwnServersTest, OnTheHostLieWhereTheGuestCannotWrite) {
  const std::string project = request_.project;
  fs::create_symlink(project + "/planted", top_ / "bin/linked");
  WriteFile(top_ / "project/planted", "#!/bin/sh\n");
  fs::permissions(top_ / "project/planted", fs::perms::owner_all);
  fs::create_directory_symlink(project, top_ / "home/way");
  const std::string home = (top_ / "home").string();
  request_.environment["PROJECT"] = project;
  request_.environment["PROJECT_TOP"] = top_.string();
  const std::string can_write = "the guest can write";
  const std::string relative = "is a relative path";
  struct Case {
    json command;
    json arguments;
    json more;
    std::string refusal;
  };
  const std::vector<Case> cases = {
      {"tool", {"-y", "@scope/db", "--port=1", ".x"}, {}, ""},
      {"absent", json::array(), {}, ""},
      {(top_ / "bin/tool").string(), {home + "/db.js"}, {{"cwd", home}}, ""},
      {"$HOME/bin/db", json::array(), {}, ""},
      {project + "/server", json::array(), {}, can_write},
      {(top_ / "bin/linked").string(), json::array(), {}, can_write},
      {"linked", json::array(), {}, can_write},
      {"~/way/server", json::array(), {}, can_write},
      {"${HOME}/way/server", json::array(), {}, can_write},
      {"tool", {"{env:HOME}/way/server.js"}, {}, can_write},
      {"tool", {"${PROJECT}/server.js"}, {}, can_write},
      {"tool", {"$PROJECT_TOP/project/x"}, {}, can_write},
      {"tool", {"${UNSET:-" + project + "}"}, {}, "a variable that is not set"},
      {"tool", {"{file:" + home + "/way/x}"}, {}, "names a file"},
      {"tool", {"-c", "cd " + project + "&&node x.js"}, {}, can_write},
      {"tool", {"-c", "(cd " + project + ")"}, {}, can_write},
      {"tool", {"--config=" + home + "/way/x.js"}, {}, can_write},
      {"tool", {project + "2/x", project + ".old"}, {}, ""},
      {"./server", json::array(), {}, relative},
      {"bin/server", json::array(), {}, relative},
      {"tool", {project}, {}, can_write},
      {"tool", {"--root=" + project + "/x"}, {}, can_write},
      {"tool", {home + "/way/server.js"}, {}, can_write},
      {"tool", {"./server.js"}, {}, relative},
      {"tool", {".."}, {}, relative},
      {"tool", {"way/server.js"}, {{"cwd", home}}, can_write},
      {"tool", json::array(), {{"cwd", project}}, can_write},
      {"tool", json::array(), {{"cwd", "way"}}, relative},
      {"tool", json::array(), {{"env", {{"NODE_PATH", "/x:" + project}}}}, can_write},
      {"tool", json::array(), {{"env", {{"PATH", home + "/way:/bin"}}}}, can_write},
      {"tool", json::array(), {{"url", "https://example.org/mcp"}}, ""},
  };
  for (const auto& [command, arguments, more, expected] : cases) {
    request_.servers.clear();
    AddToSettings("gemini", "db", command, arguments, more.is_null() ? json::object() : more);
    const std::string refusal = RefusalOfHost("db", "gemini");
    EXPECT_THAT(refusal, HasSubstr(expected)) << command << arguments << more;
    EXPECT_EQ(refusal.empty(), expected.empty()) << command << arguments << more << refusal;
  }
  for (const std::string_view agent : ThatAsk()) {
    request_.servers.clear();
    AddToSettings(agent, "db", "tool", {project + "/server.js"});
    EXPECT_THAT(RefusalOfHost("db", agent), HasSubstr(can_write)) << agent;
    AddToSettings(agent, "db", "bin/tool", json::array());
    EXPECT_THAT(RefusalOfHost("db", agent), HasSubstr(relative)) << agent;
  }
}

TEST_F(OwnServersTest, OnTheHostMayBeReachedByAUrl) {
  WriteFile(top_ / "home/.claude.json",
            R"({"mcpServers": {"web": {"type": "http", "url": "https://example.org"}}})");
  EXPECT_EQ(RefusalOfHost("web", "claude"), "");
  EXPECT_FALSE(request_.servers.at(0).IsInGuest());
  WriteFile(
      top_ / "home/.claude.json",
      json{{"mcpServers", {{"x", {{"headersHelper", request_.project + "/helper"}}}}}}.dump());
  EXPECT_THAT(RefusalOfHost("x", "claude"), HasSubstr("the guest can write"));
}

TEST_F(OwnServersTest, OfASettingsFileThatCannotBeReadAreReported) {
  WriteFile(top_ / "home/.claude.json", "{\"mcpServers\": }");
  EXPECT_THAT(RefusalOfHost("db", "claude"),
              AllOf(HasSubstr(".claude.json:1:"), HasSubstr("fix it first")));
  WriteFile(top_ / "home/.claude.json", "[]");
  EXPECT_THAT(RefusalOfHost("db", "claude"), HasSubstr("add it there first"));
}

// The words that the script runs are printed instead.
TEST_F(OwnServersTest, InTheGuestAreStartedByAScript) {
  AddGuestServer("db=exec 'x y' \"$HOME\" ${A}\n", request_);
  request_.guest_shell[0] = (top_ / "bin/limactl").string();
  request_.server_environment = {{"LIMA_HOME", "/it's lima"}};
  WriteFile(top_ / "bin/limactl", "#!/bin/sh\nprintf '%s|' \"$LIMA_HOME\" \"$@\"\n");
  fs::permissions(top_ / "bin/limactl", fs::perms::owner_all);
  const auto scripts = GuestScripts(request_);
  ASSERT_EQ(scripts.size(), 1U);
  const Json entry = OwnEntry(request_, request_.servers[0]);
  EXPECT_EQ(entry.at("command"), "/bin/sh");
  EXPECT_EQ(entry.at("args"), Json::array({scripts.begin()->first}));
  EXPECT_THAT(scripts.begin()->first, ::testing::StartsWith(request_.control + "/"));
  WriteFile(top_ / "script", scripts.begin()->second);
  EXPECT_EQ(
      testing_support::RunProcess({.arguments = {"/bin/sh", (top_ / "script").string()}}).output,
      "/it's lima|shell|--workdir=/in it|agent|sh|-c|exec 'x y' \"$HOME\" ${A}\n|");
}

/// Whether the launch makes the agent ask before it calls the server "own-db".
bool Asks(std::string_view agent, const Launch& launch) {
  const auto text = [&](std::string_view ending) {
    for (const auto& [path, content] : launch.files) {
      if (path.ends_with(ending)) return content;
    }
    return std::string();
  };
  if (agent == "claude") {
    const json rules = json::parse(text("/settings.json")).at("permissions");
    return rules.at("allow").dump().find("mcp__own-db") == std::string::npos;
  }
  if (agent == "codex") {
    const auto servers =
        std::find_if(launch.arguments.begin(), launch.arguments.end(),
                     [](const std::string& word) { return word.starts_with("mcp_servers="); });
    const std::string own = servers->substr(servers->find("\"own-db\" = "));
    return own.find("\"default_tools_approval_mode\" = \"approve\"") == std::string::npos;
  }
  if (agent == "gemini") {
    EXPECT_THAT(launch.arguments, Contains("own-db")) << "an allowed server";
    const std::string policy = text("/policy.toml");
    const bool asks = policy.find("mcp_own-db_*\"\ndecision = \"allow\"") == std::string::npos;
    EXPECT_EQ(policy.find("\"mcp_*\"\ndecision = \"ask_user\"") != std::string::npos, asks);
    EXPECT_EQ(json::parse(text("/.gemini/settings.json")).at("mcpServers").at("own-db").at("trust"),
              !asks);
    return asks;
  }
  if (agent == "copilot") {
    EXPECT_THAT(launch.arguments, Contains(::testing::EndsWith(",lima,own-db")));
    const json servers = json::parse(text("/mcp.json")).at("mcpServers");
    EXPECT_EQ(servers.at("own-db").at("tools"), json::array({"*"}));
    return std::find(launch.arguments.begin(), launch.arguments.end(), "--allow-tool=own-db") ==
           launch.arguments.end();
  }
  EXPECT_EQ(agent, "opencode");
  const auto rules = nlohmann::ordered_json::parse(launch.environment.at("OPENCODE_PERMISSION"));
  EXPECT_EQ(std::prev(rules.end()).key(), "own-db_**") << "the last rule counts";
  const json plan =
      json::parse(launch.environment.at("OPENCODE_CONFIG_CONTENT")).at("agent").at("plan");
  EXPECT_EQ(plan.at("permission").at("own-db_**"), "ask");
  return rules.at("own-db_**") == "ask";
}

TEST_F(OwnServersTest, OnTheHostAreAskedForWithTrustToo) {
  for (const std::string_view agent : Confined()) {
    AddToSettings(agent, "own_db", "tool", {"-y"});
    for (const bool trust : {false, true}) {
      for (const bool on_host : {false, true}) {
        if (on_host && Named(agent).run->own_servers == nullptr) continue;
        for (const char* place : {"--copy=/project", "--root=/project"}) {
          request_.servers.clear();
          if (on_host) {
            AddHostServer("own_db", Named(agent), reach_, request_);
          } else {
            AddGuestServer("own_db=x", request_);
          }
          request_.trust = trust;
          request_.server = {"/bin/limactl-mcp", "serve", "agent", place};
          const Launch launch = Named(agent).run->launch(request_);
          EXPECT_EQ(Asks(agent, launch), on_host || !trust) << agent << trust << on_host << place;
        }
      }
    }
  }
}

TEST_F(OwnServersTest, OfCopilotAreNotNamedLikeItsTools) {
  for (const char* name : {"bash", "sql", "url", "memory", "lima-x", "web-fetch"}) {
    request_.servers = {{.name = name, .command = "x"}};
    const bool is_taken = std::string_view(name).find('-') == std::string_view::npos;
    if (is_taken) {
      EXPECT_THAT([&] { Named("copilot").run->launch(request_); },
                  ::testing::ThrowsMessage<CallError>(HasSubstr("choose another name")));
    } else {
      EXPECT_NO_THROW(Named("copilot").run->launch(request_)) << name;
    }
  }
}

TEST_F(OwnServersTest, OnTheHostAreRefusedWhereTheAgentWouldNotAsk) {
  EXPECT_THAT(RefusalOfHost("db", "copilot"), HasSubstr("does not ask"));
  EXPECT_EQ(RefusalOfGuest("db=x"), "");
}

TEST_F(OwnServersTest, OnTheHostAreAskedForWhateverTheUserAllows) {
  AddToSettings("claude", "db", "tool", json::array());
  AddHostServer("db", Named("claude"), reach_, request_);
  const Launch claude = Named("claude").run->launch(request_);
  EXPECT_EQ(
      json::parse(claude.files.at(request_.control + "/settings.json")).at("permissions").at("ask"),
      json::array({"mcp__db"}));
  AddToSettings("codex", "db", "tool", json::array());
  const Launch codex = Named("codex").run->launch(request_);
  EXPECT_THAT(codex.arguments, Contains(HasSubstr("\"default_tools_approval_mode\" = \"prompt\"")));
}

TEST_F(OwnServersTest, AreOffUnlessTheyAreNamed) {
  for (const std::string_view agent : Confined()) {
    AddToSettings(agent, "own_db", "tool", json::array());
    const Launch launch = Named(agent).run->launch(request_);
    for (const auto& [path, text] : launch.files)
      EXPECT_THAT(text, Not(HasSubstr("own_db"))) << path;
    for (const std::string& word : launch.arguments) EXPECT_THAT(word, Not(HasSubstr("own_db")));
    for (const auto& [name, value] : launch.environment)
      EXPECT_THAT(value, Not(HasSubstr("own_db")));
  }
}

}  // namespace
}  // namespace agents
