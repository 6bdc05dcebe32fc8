// `limactl mcp doctor` on a sound instance, and with one fault at a time.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

#include "integration/fixture.h"
#include "testing/guest_processes.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_support::ChildProcess;
using testing_support::LoopbackInstance;
using testing_support::ProcessResult;

/// Much more than a check takes, less than all deadlines together.
constexpr std::chrono::seconds kLongest{110};

class Doctor : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("project");
    options_.mounts = {{project, "", true}};
    // limactl refuses root, and tests may be run by root: what doctor asks of it is this much.
    MakeProgram("bin/limactl",
                "case $1 in\n"
                "--version) echo limactl version 2.2.0 ;;\n"
                "mcp) shift; exec limactl-mcp \"$@\" ;;\n"
                "esac\n");
    MakeLink("bin/limactl-mcp", ServerProgram());
  }

  LoopbackInstance& Start() { return StartInstance(options_); }

  fs::path MakeProgram(const std::string& name, const std::string& script) {
    fs::path path = MakeFile(name, "#!/bin/sh\n" + script);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  [[nodiscard]] ProcessResult RunDoctor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "doctor");
    ChildProcess::Options options = ServerOptions(arguments);
    options.environment["PATH"] = path_;
    return testing_support::RunProcess(options, "", kLongest);
  }

  /// What `doctor --json` prints: each check under its name. Its exit code must fit.
  json Examine(const std::string& instance = "default") {
    const ProcessResult result = RunDoctor({"--json", instance});
    const json report = json::parse(result.output, nullptr, false);
    if (!report.is_object()) {
      ADD_FAILURE() << "no JSON: " << result.output << result.error;
      return json::object();
    }
    EXPECT_EQ(result.exit_code, report.at("passed") ? 0 : 1);
    json checks = json::object();
    for (const json& check : report.at("checks")) {
      checks[check.at("name").get<std::string>()] = check;
      if (check.at("result") == "warning" || check.at("result") == "failed") {
        EXPECT_THAT(check.value("advice", ""), Not(IsEmpty())) << check;
      }
    }
    // A machine that does ten other things may make every login shell slow.
    json& shell = checks["shell"];
    const bool is_slow = shell.value("text", "").ends_with("to start");
    if (!slow_shell_counts_ && is_slow) shell["result"] = "passed";
    return checks;
  }

  static std::vector<std::string> With(const std::string& result, const json& checks) {
    std::vector<std::string> names;
    for (const auto& [name, check] : checks.items()) {
      if (check.at("result") == result) names.push_back(name);
    }
    return names;
  }

  /// The text of the only check that failed.
  std::string OnlyFailure(const std::string& name, const json& checks) {
    EXPECT_THAT(With("failed", checks), ElementsAre(name)) << checks.dump(2);
    return TextAndAdvice(name, checks);
  }
  std::string OnlyWarning(const std::string& name, const json& checks) {
    EXPECT_THAT(With("failed", checks), IsEmpty()) << checks.dump(2);
    EXPECT_THAT(With("warning", checks), ElementsAre(name)) << checks.dump(2);
    return TextAndAdvice(name, checks);
  }
  static std::string TextAndAdvice(const std::string& name, const json& checks) {
    if (!checks.contains(name)) return "";
    return checks.at(name).at("text").get<std::string>() + " -> " +
           checks.at(name).value("advice", "");
  }
  static void ExpectSkipped(const std::vector<std::string>& names, const std::string& because,
                            const json& checks) {
    for (const std::string& name : names) {
      ASSERT_TRUE(checks.contains(name)) << name;
      EXPECT_EQ(checks.at(name).at("result"), "skipped") << name;
      EXPECT_THAT(checks.at(name).at("text").get<std::string>(), HasSubstr(because + " failed"));
    }
  }

  /// What sessions of the guest start finds these programs, all but `missing` of this machine's.
  void LeaveOutOfGuest(const std::string& missing) {
    const fs::path programs = MakeDirectory("programs");
    for (const char* directory : {"/usr/local/bin", "/usr/bin", "/bin"}) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(directory, none)) {
        const fs::path link = programs / entry.path().filename();
        if (link.filename() != missing && !fs::exists(fs::symlink_status(link))) {
          fs::create_symlink(entry.path(), link);
        }
      }
    }
    options_.sshd_options.push_back("ForceCommand PATH=" + programs.string() +
                                    " exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"");
  }

  void WriteProfiles(const std::vector<std::string>& names, const std::string& text) {
    for (const std::string& name : names) MakeFile("lima/default/guest-home/" + name, text);
  }

  void ReplaceInSshConfig(const std::string& from, const std::string& to) {
    std::string text = ReadFile(SshConfig());
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    MakeFile("lima/default/ssh.config", text.replace(at, from.size(), to));
  }

  [[nodiscard]] fs::path SshConfig() const { return LimaHome() / "default/ssh.config"; }

  const std::string project = Path("project").string();
  LoopbackInstance::Options options_;
  bool slow_shell_counts_ = false;
  std::string path_ = Path("bin").string() + ":/usr/local/bin:/usr/bin:/bin";
};

TEST_F(Doctor, FindsNothingWrongWithASoundInstance) {
  Start();
  const json checks = Examine();
  EXPECT_THAT(With("passed", checks),
              ::testing::UnorderedElementsAre("limactl", "plugin", "name", "instance",
                                              "configuration", "status", "mounts", "ssh.config",
                                              "port", "key", "connect", "sftp", "shell", "git",
                                              "find", "mounted", "write", "round trip"))
      << checks.dump(2);
  EXPECT_THAT(TextAndAdvice("round trip", checks),
              AllOf(HasSubstr("7 tools"), HasSubstr("list_directory"),
                    HasSubstr("run_shell_command"), HasSubstr("limactl mcp serve default")));
  EXPECT_TRUE(fs::is_empty(project)) << "something is left of the check of write access";
}

TEST_F(Doctor, ExaminesTheDefaultInstanceWhereNoneIsNamed) {
  Start();
  const ProcessResult result = RunDoctor({});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  EXPECT_THAT(result.output, HasSubstr("default"));
}

TEST_F(Doctor, PrintsOneLineForEachCheckWithItsTimeInPlainAscii) {
  Start();
  const ProcessResult result = RunDoctor({"default"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  std::istringstream lines(result.output);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, AllOf(HasSubstr("limactl-mcp "), HasSubstr("libssh ")));
  int checks = 0;
  while (std::getline(lines, line) && !line.starts_with("Nothing failed, ")) {
    if (line.starts_with(" ")) continue;  // what to do about a login shell that is slow by now
    EXPECT_THAT(line, ::testing::MatchesRegex("(ok  |warn) [a-z. ]+ [^ ].* \\([0-9.]+ ?m?s\\)"));
    ++checks;
  }
  EXPECT_EQ(checks, 18) << result.output;
  for (const char c : result.output) EXPECT_LT(static_cast<unsigned char>(c), 0x80U);
}

TEST_F(Doctor, PrintsWhatToDoBelowAFailure) {
  Start().Stop();
  const ProcessResult result = RunDoctor({"default"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, ::testing::ContainsRegex("\nFAIL status +stopped \\([0-9]+ ms\\)\n"
                                                      " +-> limactl start default\n"));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("\nskip connect +.*status failed\n"));
}

TEST_F(Doctor, PrintsNothingButJsonOnStandardOutput) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "echo Welcome\n");
  const ProcessResult result = RunDoctor({"--json"});
  const json report = json::parse(result.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << result.output;
  EXPECT_EQ(report.at("instance"), "default");
  EXPECT_TRUE(report.contains("version"));
  EXPECT_TRUE(report.contains("libssh"));
  for (const json& check : report.at("checks")) {
    EXPECT_GE(check.at("duration_ms"), 0) << check;
  }
}

// --- One fault each
// ---------------------------------------------------------------------------------------

TEST_F(Doctor, NamesAMissingLimactlAndGoesOnWithoutIt) {
  Start();
  fs::remove(Path("bin/limactl"));
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("limactl", checks), HasSubstr("https://lima-vm.io"));
  EXPECT_THAT(TextAndAdvice("round trip", checks), HasSubstr("limactl-mcp serve default"));
}

TEST_F(Doctor, NamesALimactlThatDoesNotWork) {
  Start();
  MakeProgram("bin/limactl", "echo 'must not run as the root user' >&2; exit 1\n");
  EXPECT_THAT(OnlyFailure("limactl", Examine()), HasSubstr("must not run as the root user"));
}

TEST_F(Doctor, NamesALimactlThatIsTooOld) {
  Start();
  MakeProgram("bin/limactl", "echo limactl version 1.2.1\n");
  EXPECT_THAT(OnlyFailure("limactl", Examine()), HasSubstr("1.2.1"));
}

TEST_F(Doctor, NamesAnotherPluginThatWinsOverThisProgram) {
  Start();
  const fs::path other = MakeProgram("first/limactl-mcp", "exec " + ServerProgram() + " \"$@\"\n");
  path_ = Path("first").string() + ":" + path_;
  fs::rename(Path("bin/limactl-mcp"), MakeDirectory("last") / "limactl-mcp");
  path_ += ":" + Path("last").string();
  EXPECT_THAT(OnlyFailure("plugin", Examine()),
              AllOf(HasSubstr(other.string()), HasSubstr(ServerProgram())));
}

TEST_F(Doctor, NamesAPluginThatLimactlDoesNotFind) {
  Start();
  fs::remove(Path("bin/limactl-mcp"));
  EXPECT_THAT(OnlyFailure("plugin", Examine()), HasSubstr("directory on PATH"));
}

TEST_F(Doctor, NamesWhatIsNoInstanceName) {
  Start();
  const json checks = Examine("../x");
  OnlyFailure("name", checks);
  ExpectSkipped({"instance", "status", "connect", "round trip"}, "name", checks);
}

TEST_F(Doctor, NamesAnInstanceThatDoesNotExistAndListsThoseThatDo) {
  Start();
  const json checks = Examine("unknown");
  EXPECT_THAT(OnlyFailure("instance", checks), AllOf(HasSubstr("unknown"), HasSubstr("default")));
  ExpectSkipped({"status", "mounts", "connect", "round trip"}, "instance", checks);
}

TEST_F(Doctor, NamesAConfigurationThatCannotBeRead) {
  Start();
  MakeFile("lima/default/lima.yaml", "mounts: [\n");
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("configuration", checks), HasSubstr("lima.yaml"));
  ExpectSkipped({"status", "mounts", "connect"}, "configuration", checks);
}

TEST_F(Doctor, NamesAStoppedInstance) {
  Start().Stop();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("status", checks), HasSubstr("limactl start default"));
  ExpectSkipped({"ssh.config", "connect", "round trip"}, "status", checks);
}

TEST_F(Doctor, NamesABrokenInstance) {
  fs::remove(Start().directory() / "ha.pid");
  EXPECT_THAT(OnlyFailure("status", Examine()),
              AllOf(HasSubstr("broken"), HasSubstr("limactl stop --force default")));
}

TEST_F(Doctor, NamesAMountWhoseLocationIsNotOnTheHost) {
  options_.mounts.push_back({Path("gone").string(), "", true});
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("mounts", checks),
              HasSubstr("no directory on this host: " + Path("gone").string()));
}

TEST_F(Doctor, WarnsOfAPlainInstanceWhichMountsNothing) {
  options_.lima_yaml = "plain: true\n";
  Start();
  const json checks = Examine();
  EXPECT_THAT(With("failed", checks), IsEmpty());
  EXPECT_THAT(TextAndAdvice("mounts", checks), HasSubstr("plain: true"));
}

TEST_F(Doctor, WarnsOfAReadOnly9pMountThatTheGuestCaches) {
  MakeDirectory("read-only");
  options_.mounts.push_back({Path("read-only").string(), "", false});
  options_.lima_yaml = "mountType: 9p\n";
  Start();
  EXPECT_THAT(OnlyWarning("mounts", Examine()),
              AllOf(HasSubstr("fscache): " + Path("read-only").string()), HasSubstr("mmap")));
}

TEST_F(Doctor, NamesAMissingSshConfig) {
  Start();
  fs::remove(SshConfig());
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("ssh.config", checks), HasSubstr(SshConfig().string()));
  ExpectSkipped({"port", "key", "connect", "round trip"}, "ssh.config", checks);
}

TEST_F(Doctor, NamesAPortThatTheHostAgentDoesNotKnowAndDoesNotConnectToIt) {
  const LoopbackInstance& instance = Start();
  const std::string port = std::to_string(instance.port());
  ReplaceInSshConfig("Port " + port, "Port 1");
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("port", checks), AllOf(HasSubstr("port 1,"), HasSubstr("port " + port)));
  ExpectSkipped({"connect", "round trip"}, "port", checks);
}

TEST_F(Doctor, NamesAMissingKey) {
  const LoopbackInstance& instance = Start();
  fs::remove(instance.identity_file());
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("key", checks), HasSubstr(instance.identity_file()));
  ExpectSkipped({"connect", "round trip"}, "key", checks);
}

TEST_F(Doctor, NamesAKeyThatOthersMayRead) {
  const LoopbackInstance& instance = Start();
  ASSERT_EQ(::chmod(instance.identity_file().c_str(), 0644), 0);
  EXPECT_THAT(OnlyFailure("key", Examine()), HasSubstr("chmod 600 " + instance.identity_file()));
}

TEST_F(Doctor, NamesAnSshdThatRefusesTheConnection) {
  const LoopbackInstance& instance = Start();
  MakeFile("lima/default/qemu.pid", std::to_string(::getpid()) + "\n");
  ::kill(instance.sshd_pid(), SIGKILL);
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("connect", checks), HasSubstr("refused"));
  ExpectSkipped({"sftp", "shell", "git", "find", "mounted", "write", "round trip"}, "connect",
                checks);
}

TEST_F(Doctor, NamesAnSshdThatDoesNotTakeTheKey) {
  options_.sshd_options = {"AllowUsers nobody-of-this-name"};
  const LoopbackInstance& instance = Start();
  EXPECT_THAT(OnlyFailure("connect", Examine()), HasSubstr(instance.identity_file()));
}

TEST_F(Doctor, NamesAGuestThatDoesNotAnswerAndEndsAllTheSame) {
  const LoopbackInstance& instance = Start();
  testing_support::Freeze(instance);
  const json checks = Examine();
  testing_support::Thaw(instance);
  OnlyFailure("connect", checks);
}

TEST_F(Doctor, NamesAMissingSftpServer) {
  options_.sshd_options = {"Subsystem other /bin/true"};
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("sftp", checks), HasSubstr("no SFTP subsystem"));
  ExpectSkipped({"write", "round trip"}, "sftp", checks);
}

TEST_F(Doctor, NamesALoginShellThatIsNotThere) {
  options_.lima_yaml = "user:\n  shell: /bin/no-such-shell\n";
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("shell", checks), HasSubstr("/bin/no-such-shell"));
  ExpectSkipped({"round trip"}, "shell", checks);
}

TEST_F(Doctor, NamesALoginProfileThatEndsTheShell) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "exit 3\n");
  EXPECT_THAT(OnlyFailure("shell", Examine()), HasSubstr("exit status 3"));
}

TEST_F(Doctor, WarnsOfALoginProfileThatPrints) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "echo Welcome to your VM\n");
  EXPECT_THAT(OnlyWarning("shell", Examine()), HasSubstr("Welcome to your VM"));
}

TEST_F(Doctor, WarnsOfALoginProfileThatIsSlow) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "sleep 4\n");
  slow_shell_counts_ = true;
  EXPECT_THAT(OnlyWarning("shell", Examine()), HasSubstr("/bin/bash takes "));
}

TEST_F(Doctor, WarnsOfAMissingGit) {
  LeaveOutOfGuest("git");
  Start();
  EXPECT_THAT(OnlyWarning("git", Examine()), HasSubstr("install git"));
}

TEST_F(Doctor, WarnsOfAMissingFind) {
  LeaveOutOfGuest("find");
  Start();
  EXPECT_THAT(OnlyWarning("find", Examine()), HasSubstr("install findutils"));
}

TEST_F(Doctor, NamesAWritableMountThatCannotBeWrittenTo) {
  // Permissions do not stop root; the kernel's own file systems do.
  const std::string closed = ::geteuid() == 0 ? "/sys" : MakeDirectory("closed").string();
  if (::geteuid() != 0) fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  options_.mounts.push_back({closed, "", true});
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("write", checks), AllOf(HasSubstr(closed), Not(HasSubstr(project))));
  EXPECT_TRUE(fs::is_empty(project));
}

TEST_F(Doctor, NamesAServerThatEndsAtOnce) {
  Start();
  MakeProgram("bin/limactl",
              "case $1 in\n"
              "--version) echo limactl version 2.2.0 ;;\n"
              "mcp) echo 'no such plugin' >&2; exit 3 ;;\n"
              "esac\n");
  EXPECT_THAT(OnlyFailure("round trip", Examine()),
              AllOf(HasSubstr("exit status 3"), HasSubstr("no such plugin")));
}

}  // namespace
}  // namespace integration
