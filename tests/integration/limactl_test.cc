// The program as users start it: as a plugin of a real limactl.

#include "testing/limactl.h"

#include <csignal>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "integration/fixture.h"

namespace integration {
namespace {

using testing_support::Limactl;

class ThroughLimactl : public IntegrationTest {
 protected:
  void SetUp() override {
    try {
      limactl_.emplace();
    } catch (const std::runtime_error& error) {
      GTEST_SKIP() << Skipping(error.what());
    }
    MakeFile("root/a.txt", "text");
    StartRoot();
    // A copy, because limactl may run as a user who cannot reach the build directory.
    fs::copy_file(ServerProgram(), MakeDirectory("plugins") / "limactl-mcp");
    // Lima's own plugin beside limactl would win over PATH.
    if (fs::exists(limactl_->program().parent_path() / "limactl-mcp"))
      fs::copy_file(limactl_->program(), MakeDirectory("bin") / "limactl");
    limactl_->GiveAway(Path());
  }

  [[nodiscard]] ChildProcess::Options Plugin(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"mcp"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const char* path = std::getenv("PATH");
    ChildProcess::Options options = limactl_->Command(
        all, Path(), LimaHome(),
        {{"PATH", Path("plugins").string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path)}});
    if (fs::exists(Path("bin/limactl"))) {
      for (std::string& argument : options.arguments)
        if (argument == limactl_->program().string()) argument = Path("bin/limactl");
    }
    return options;
  }
  [[nodiscard]] ProcessResult RunPlugin(const std::vector<std::string>& arguments) const {
    return RunProcess(Plugin(arguments));
  }

  std::optional<Limactl> limactl_;
};

TEST_F(ThroughLimactl, PrintsAndReturnsWhatTheProgramDoes) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"--help"}, {"-v"}, {"info"}, {"serve", "a/b"}}) {
    const ProcessResult direct = RunServer(arguments);
    const ProcessResult result = RunPlugin(arguments);
    EXPECT_EQ(result.output, direct.output);
    EXPECT_EQ(result.exit_code, direct.exit_code);
    EXPECT_THAT(result.error, HasSubstr(direct.error));
  }
}

TEST_F(ThroughLimactl, ServesTheInstance) {
  McpClient server(Plugin({"serve", "default"}));
  server.Initialize();
  EXPECT_EQ(server.Request("tools/list").at("result").at("tools").size(), 10U);
  EXPECT_EQ(server.CallTool("read_file", {{"path", root + "/a.txt"}}).at("structuredContent"),
            (json{{"content", "text"}}));
  EXPECT_EQ(server.CallTool("write_file", {{"path", root + "/b.txt"}, {"content", "written"}})
                .at("structuredContent"),
            json::object());
  EXPECT_EQ(ReadFile(Path("root/b.txt")), "written");
  EXPECT_EQ(
      server.CallTool("run_shell_command", {{"command", {"cat", "b.txt"}}, {"directory", root}})
          .at("structuredContent")
          .at("stdout"),
      "written");
  const json refusal = server.CallTool("read_file", {{"path", "/etc/passwd"}});
  EXPECT_TRUE(refusal.value("isError", false));
  EXPECT_THAT(TextOf(refusal), HasSubstr(root + " (writable)"));
  EXPECT_EQ(server.CloseAndWait(kPromptly), 0);
}

// Runs the command in the text of a refused write, without --start.
TEST_F(ThroughLimactl, RefusalOfAWriteSaysHowToMakeTheMountWritable) {
  const std::string kept = MakeDirectory("it's kept, really");
  const std::string read_only = MakeDirectory("it's read only");
  auto& instance = StartInstance({{root, "", true}, {kept, "", false}, {read_only, "", false}});
  const auto mounts = [&] {
    limactl_->GiveAway(Path());
    const ProcessResult list = limactl_->Run({"list", "--json", "default"}, Path(), LimaHome());
    json writable = json::object();
    const json listed = json::parse(list.output);
    for (const json& mount : listed.at("config").at("mounts")) {
      writable[mount.at("location").get<std::string>()] = mount.at("writable");
    }
    return writable;
  };
  EXPECT_EQ(mounts(), (json{{root, true}, {kept, false}, {read_only, false}}));
  McpClient server(Plugin({"serve", "default"}));
  server.Initialize();
  const std::string text =
      TextOf(server.CallTool("write_file", {{"path", read_only + "/a"}, {"content", "text"}}));
  EXPECT_EQ(server.CloseAndWait(kPromptly), 0);
  const std::size_t begin = text.find("limactl edit ");
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string command = text.substr(begin, text.rfind('`') - begin);
  const ProcessResult split =
      RunProcess({.arguments = {"sh", "-c", "limactl() { printf '%s\\n' \"$@\"; }; " + command}});
  std::istringstream lines(split.output);
  std::vector<std::string> words;
  for (std::string word; std::getline(lines, word);) {
    if (word != "--start") words.push_back(word);
  }
  instance.Stop();
  const ProcessResult edit = limactl_->Run(words, Path(), LimaHome());
  EXPECT_EQ(edit.exit_code, 0) << command << '\n' << edit.error;
  EXPECT_EQ(mounts(), (json{{root, true}, {kept, false}, {read_only, true}}));
}

// A script stands for Claude Code: it starts the server in the guest as its settings say.
TEST_F(ThroughLimactl, StartsTheUsersOwnServersInTheGuest) {
  const fs::path guest = MakeDirectory("guest's root");
  LoopbackInstance::Options options;
  options.mounts = {{root, guest.string(), true}};
  options.lima_yaml = "user: {name: " + Instance().user() + "}\n";
  StartInstance(std::move(options));
  MakeProgram("plugins/claude",
              "[ \"$1\" != --version ] || { echo 99.0.0; exit 0; }\n"
              "for word; do case $word in --mcp-config=*) file=${word#*=} ;; esac; done\n"
              "exec /bin/sh \"${file%/*}/own.sh\"\n");
  MakeLink("plugins/limactl", limactl_->program());
  limactl_->GiveAway(Path());
  auto run = Plugin({"run", "claude", "default", "--mcp",
                     "own=echo \"in $PWD over ${SSH_CONNECTION%% *} with $0\"; cat; exit 5"});
  run.working_directory = root;
  const ProcessResult result = RunProcess(run, "input");
  EXPECT_EQ(result.output, "in " + guest.string() + " over 127.0.0.1 with sh\ninput")
      << result.error;
  EXPECT_EQ(result.exit_code, 5);
}

TEST_F(ThroughLimactl, ExitsWhenLimactlIsKilledThoughItsInputStaysOpen) {
  McpClient server(Plugin({"serve", "default"}));
  server.Initialize();
  server.CallTool("read_file", {{"path", root + "/a.txt"}});
  server.process().Signal(SIGKILL);
  // Standard output ends when the plugin exits.
  try {
    const json message = server.NextMessage(kPromptly);
    FAIL() << "an unexpected message: " << message.dump();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the server has ended"));
  }
}

}  // namespace
}  // namespace integration
