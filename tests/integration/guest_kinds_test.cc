// Guests of many kinds: each kind of call works, or reports what is missing.

#include <map>
#include <ostream>

#include "integration/fixture.h"
#include "shell/shell_quote.h"

namespace integration {
namespace {

/// More than sshd has channels.
constexpr int kManyCommands = 12;

class GuestKinds : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "needle\n");
    for (const char* call : {"list", "command", "write", "read", "glob", "search", "queued"}) {
      allowed_[call] = {};
    }
  }

  void ExpectFileToolsWork() {
    Write(root + "/new.txt", "written");
    EXPECT_EQ(Read(root + "/new.txt"), "written");
    EXPECT_THAT(List(root), Contains("a.txt"));
  }

  /// Makes each kind of call.
  void CallEach(const std::vector<std::string>& sshd_options, const std::string& lima_yaml = "") {
    StartGuest(sshd_options, {}, lima_yaml);
    const json echo = Arguments({"echo", "alive"});
    Check("list", "list_directory", {{"path", root}}, "a.txt");
    Check("command", "run_shell_command", echo, "alive");
    Check("write", "write_file", {{"path", root + "/new.txt"}, {"content", "gamma\n"}}, "{}");
    Check("read", "read_file", {{"path", root + "/a.txt"}}, "needle");
    Check("glob", "glob", {{"path", root}, {"pattern", "**/a*"}}, "a.txt");
    Check("search", "search_file_content", {{"path", root}, {"pattern", "nee."}}, "a.txt:1");
    std::vector<std::int64_t> ids;
    for (int i = 0; i < kManyCommands; ++i) {
      ids.push_back(client().BeginCall("run_shell_command", echo));
    }
    json last;
    for (const std::int64_t id : ids) last = client().EndCall(id);
    Judge("queued", last, "alive");
  }

  void ExpectNothingIsLeft() {
    EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
    EXPECT_TRUE(Eventually([&] { return GuestProcesses(Instance()).empty(); }))
        << "something is left in the guest";
  }

  void Check(const std::string& kind, const std::string& tool, const json& arguments,
             const std::string& expected) {
    Judge(kind, client().CallTool(tool, arguments), expected);
  }
  void Judge(const std::string& kind, const json& result, const std::string& expected) {
    const std::string text = TextOf(result);
    const bool works = !result.value("isError", false) &&
                       text.find(expected) != std::string::npos &&
                       text.find("\"error\"") == std::string::npos;
    if (works) {
      EXPECT_TRUE(allowed_[kind].success) << kind << ": " << text;
    } else {
      ASSERT_NE(allowed_[kind].error, "") << kind << ": " << text;
      EXPECT_THAT(text, ContainsRegex(allowed_[kind].error)) << kind;
    }
  }

  struct Allowed {
    bool success = true;
    std::string error;  ///< a regular expression; empty: none
  };
  std::map<std::string, Allowed> allowed_;  ///< by kind of call
};

/// sshd runs this program in place of the user's shell.
std::vector<std::string> LoginShell(const std::string& program) {
  return {"ForceCommand exec " + program + " -c \"$SSH_ORIGINAL_COMMAND\""};
}

TEST_F(GuestKinds, WithoutAProgram) {
  for (const std::vector<std::string>& missing :
       std::vector<std::vector<std::string>>{{"git"}, {"bash", "rbash"}}) {
    SCOPED_TRACE(missing.front());
    const std::string programs = ProgramsWithout(missing).string();
    CallEach(LoginShell("env PATH=" + programs + " SHELL=" + programs + "/sh /bin/sh"),
             "user: {shell: " + programs + "/sh}");
    ExpectNothingIsLeft();
    fs::remove_all(programs);
  }
}

TEST_F(GuestKinds, ThreeSessions) {
  CallEach({"MaxSessions 3"});
  ExpectNothingIsLeft();
}

/// All that bash and zsh read. Debian's bash reads .bashrc for what sshd starts, SFTP too.
const std::vector<std::string> kProfiles = {".profile", ".bash_profile", ".bashrc", ".zshenv"};

TEST_F(GuestKinds, ProfileOfEveryShellPrints) {
  WriteProfiles(kProfiles, "echo Welcome\n");
  for (auto& [call, allowed] : allowed_) allowed = {true, "login profile prints text"};
  CallEach({});
  ExpectNothingIsLeft();
}

TEST_F(GuestKinds, ProfileOfEveryShellIsSlow) {
  WriteProfiles(kProfiles, "sleep 0.5\n");
  WriteProfiles({".profile", ".bash_profile"}, "sleep 2\n");
  CallEach({});
  ExpectNothingIsLeft();
}

TEST_F(GuestKinds, ProfileOfEveryShellExits) {
  WriteProfiles(kProfiles, "exit 1\n");
  const std::string broken = "the login shell that starts it, does not work";
  for (auto& [call, allowed] : allowed_) {
    const bool is_command = call == "command" || call == "queued";
    allowed = {!is_command, (is_command ? "exit status 1|" : "") + broken};
  }
  CallEach({});
  ExpectNothingIsLeft();
}

struct Profile {
  const char* name;
  const char* file;
  const char* text;
  bool is_dropped = false;  ///< its output
};
void PrintTo(const Profile& profile, std::ostream* out) {
  *out << profile.name;
}

class GuestProfile : public GuestKinds, public ::testing::WithParamInterface<Profile> {
 protected:
  /// Runs what `limactl shell` would, with this machine's ssh and Lima's ssh.config.
  [[nodiscard]] ProcessResult RunBySsh(const LoopbackInstance& instance) const {
    return RunProcess(
        {.arguments = {
             "ssh", "-n", "-F", instance.directory() / "ssh.config", "-o", "ControlMaster=no", "-o",
             "ControlPath=none", "-o", "LogLevel=ERROR", "lima-default",
             "cd " + shell::ShellQuote(root) + " || exit 1 ; exec /bin/bash -l -c 'echo hello'"}});
  }
};

TEST_P(GuestProfile, AffectsOnlyCommandsAsWithLimactlShell) {
  MakeFile(std::string("lima/default/guest-home/") + GetParam().file, GetParam().text);
  const LoopbackInstance& instance = StartGuest();
  ExpectFileToolsWork();
  EXPECT_EQ(Glob({{"pattern", "a.*"}, {"path", root}}), std::vector{root + "/a.txt"});
  EXPECT_EQ(Search({{"pattern", "needle"}, {"path", root}}), "a.txt:1:needle\n");
  const ProcessResult plain = RunBySsh(instance);
  const json ours = Run({"echo", "hello"});
  if (GetParam().is_dropped) {
    EXPECT_EQ(ours.value("stdout", ""), "hello\n");
    EXPECT_EQ(ours.value("stderr", ""), "");
  } else {
    EXPECT_EQ(ours.value("stdout", ""), plain.output);
    EXPECT_EQ(ours.value("stderr", ""), plain.error);
  }
  EXPECT_EQ(ours.value("exit_code", -1), plain.exit_code);
}

INSTANTIATE_TEST_SUITE_P(
    Guest, GuestProfile,
    ::testing::Values(
        Profile{"Prints", ".bash_profile", "echo welcome; echo warning >&2\n", true},
        Profile{"IsSlow", ".bash_profile", "sleep 1.5\n"},
        Profile{"ExitsOne", ".bash_profile", "exit 1\n"},
        Profile{"ReadsInput", ".bash_profile", "read -r line; cat\n"},
        Profile{"IsStrict", ".bash_profile",
                "set -eu; trap 'echo trapped' EXIT; shopt -s expand_aliases; alias echo=false\n"},
        Profile{
            "IsStrictBeforeLogin", ".bashrc",
            "set -eu; trap 'echo trapped' EXIT; shopt -s expand_aliases; alias printf=false\n"}),
    [](const auto& profile) { return std::string(profile.param.name); });

}  // namespace
}  // namespace integration
