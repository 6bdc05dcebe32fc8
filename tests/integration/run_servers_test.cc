// `limactl mcp run` with the user's own MCP servers. A script stands for Claude Code: it starts the
// server "own" as its settings say.

#include "integration/fixture.h"

namespace integration {
namespace {

class RunServers : public IntegrationTest {
 protected:
  RunServers() {
    MakeDirectory("project/sub");
    MakeDirectory("home");
    MakeProgram("bin/claude",
                "[ \"$1\" != --version ] || { echo 99.0.0; exit 0; }\n"
                "for word; do case $word in --mcp-config=*) file=${word#*=} ;; esac; done\n"
                "cat \"$file\" > " +
                    Path("mcp.json").string() +
                    "\n"
                    "[ ! -e \"${file%/*}/own.sh\" ] || exec /bin/sh \"${file%/*}/own.sh\"\n");
    // As `limactl shell --workdir=DIR INSTANCE sh -c COMMAND`; limactl refuses root.
    MakeProgram(
        "bin/limactl",
        "[ \"$1 $4 $5\" = 'shell sh -c' ] || exit 9\n"
        "{ printf 'cd \"%s\" || exit 1\\n' \"${2#--workdir=}\"; printf '%s\\n' \"$6\"; } |\n"
        "  ssh -F \"$LIMA_HOME/$3/ssh.config\" -o ControlPath=none \"lima-$3\" sh\n");
  }

  void Start(const Mounts& mounts, const std::string& lima_yaml = "") {
    LoopbackInstance::Options options;
    options.name = "agent";
    options.mounts = mounts;
    options.lima_yaml = lima_yaml;
    StartInstance(std::move(options));
  }

  [[nodiscard]] ProcessResult RunIn(const fs::path& directory, const Command& options) const {
    Command words = {"run", "claude"};
    words.insert(words.end(), options.begin(), options.end());
    ChildProcess::Options server = ServerOptions(words);
    server.environment["HOME"] = Path("home").string();
    server.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
    server.environment["XDG_STATE_HOME"] = std::nullopt;
    server.environment["SSH_CONNECTION"] = "none";
    server.working_directory = directory;
    return RunProcess(server);
  }
  [[nodiscard]] std::string Refused(const Command& options) const {
    const ProcessResult result = RunIn(Path("project"), options);
    EXPECT_EQ(result.exit_code, 1) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_FALSE(fs::exists(Path("mcp.json"))) << "the agent was started";
    return result.error;
  }

  /// Says where it runs.
  const std::string place = "own=echo \"in $PWD over ${SSH_CONNECTION%% *}\"; exit 5";
};

TEST_F(RunServers, InTheGuestWorkInTheProjectsDirectoryThere) {
  const fs::path guest = MakeDirectory("guest/project");
  MakeDirectory("guest/project/sub");
  Start({{Path("project").string(), guest.string(), true}});
  for (const std::string below : {"", "/sub"}) {
    const ProcessResult result = RunIn(Path("project" + below), {"--mcp", place});
    EXPECT_EQ(result.output, "in " + guest.string() + below + " over 127.0.0.1\n") << result.error;
    EXPECT_EQ(result.exit_code, 5);
  }
  const json servers = json::parse(ReadFile(Path("mcp.json"))).at("mcpServers");
  EXPECT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers.at("lima").at("args"),
            (json{"serve", "agent", "--root", Path("project/sub").string()}));
}

TEST_F(RunServers, InTheGuestWorkInTheCopy) {
  Start({});
  const std::string project = Path("project").string();
  const std::string copy = Path("guest/copy").string();
  const std::string git = "git -c user.name=Ann -c user.email=a@b -C " + project;
  RunProcess({.arguments = {"sh", "-c",
                            "git init -q " + project + " && touch " + project + "/sub/x && " + git +
                                " add -A && " + git + " commit -q -m first"}});
  for (const Command& options : {Command{"--copy-dir", copy}, Command{}}) {
    Command words = {"--mcp", place};
    words.insert(words.end(), options.begin(), options.end());
    const ProcessResult result = RunIn(Path("project/sub"), words);
    EXPECT_EQ(result.output, "in " + copy + " over 127.0.0.1\n") << result.error;
  }
}

TEST_F(RunServers, OnTheHostAreThoseOfTheUsersSettings) {
  Start({{Path("project").string(), "", true}});
  MakeFile("home/.claude.json", json{{"mcpServers",
                                      {{"db", {{"command", "env"}, {"args", {"-u", "X"}}}},
                                       {"in", {{"command", Path("project/in").string()}}}}}}
                                    .dump());
  EXPECT_THAT(Refused({"--host-mcp", "absent"}), HasSubstr("there are: db, in"));
  EXPECT_THAT(Refused({"--host-mcp", "in"}),
              AllOf(HasSubstr(Path("project/in").string()), HasSubstr("the guest can write")));
  EXPECT_EQ(RunIn(Path("project"), {"--host-mcp", "db", "--trust"}).exit_code, 0);
  const json servers = json::parse(ReadFile(Path("mcp.json"))).at("mcpServers");
  EXPECT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers.at("db").at("command"), "env");
  EXPECT_EQ(servers.at("db").at("args"), (json{"-u", "X"}));
}

TEST_F(RunServers, MayBeSeveral) {
  Start({{Path("project").string(), "", true}});
  EXPECT_EQ(RunIn(Path("project"), {"--mcp", place, "--mcp=b=x, y", "--mcp", "c=z"}).exit_code, 5);
  EXPECT_EQ(json::parse(ReadFile(Path("mcp.json"))).at("mcpServers").size(), 4U);
  EXPECT_THAT(RunIn(Path("project"), {"--mcp", place, "--mcp", "own=y"}).error,
              HasSubstr("another server is called \"own\""));
}

TEST_F(RunServers, InTheGuestNeedALimactlThatTheGuestCannotWrite) {
  Start({{Path("project").string(), "", true}});
  fs::rename(Path("bin/limactl"), Path("project/limactl"));
  EXPECT_THAT(Refused({"--mcp", place}), HasSubstr("--mcp needs limactl"));
  MakeLink("bin/limactl", Path("project/limactl"));
  EXPECT_THAT(Refused({"--mcp", place}), HasSubstr("which the guest can write"));
}

TEST_F(RunServers, InTheGuestNeedAMountPointThatTheHostKnows) {
  Start({{Path("project").string(), "{{.Home}}/project", true}});
  EXPECT_THAT(Refused({"--mcp", place}),
              AllOf(HasSubstr("only the guest knows"), HasSubstr("limactl edit agent")));
}

}  // namespace
}  // namespace integration
