// SPDX-License-Identifier: Apache-2.0
#include "shell/shells.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "shell/processes.h"
#include "support/errors.h"
#include "support/regex.h"
#include "unit/server/shell/shells_fixture.h"

namespace shell {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const Words kEcho{"echo", "x"};
const Result kEchoed{0, "x\n", ""};

TEST_F(ShellsTest, RunCommandsInOneForkEach) {
  const std::string loop = Run({"eval", "echo $$"}).output;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run({"sh", "-c", "echo $PPID"}).output, loop);
  EXPECT_EQ(launcher_->started(), 1U);
}

TEST_F(ShellsTest, HideTheEndMarker) {
  const std::string seen =
      Run({"eval", "declare -p; set; env; ps axeww; cat /proc/$$/environ /proc/$PPID/environ"})
          .output;
  // Other programs on this machine have shorter names of that kind.
  const auto marker = ContainsRegex("limactl-mcp-[0-9a-f]{32}");
  EXPECT_THAT(seen, Not(marker));
  EXPECT_THAT(Script("set; env").output, Not(marker));
}

TEST_F(ShellsTest, KeepNothingOfACommandForTheNext) {
  Run({"eval", "cd /; umask 0; export LEFT=1; f() { :; }; set -x; exec >/dev/null 2>&1"});
  EXPECT_EQ(Run({"eval", "pwd; umask; echo $LEFT; declare -F; echo $-"}).output,
            work_ + "\n" + Plainly("/bin/bash", "umask; echo; echo $-").output);
}

TEST_F(ShellsTest, KeepTheirStreamsBlockingForTheNextCommand) {
  const Words flags{"grep", "flags", "/proc/self/fdinfo/1", "/proc/self/fdinfo/2"};
  const Result before = Run(flags);
  const std::string set = "use Fcntl; fcntl($_, F_SETFL, O_NONBLOCK) for *STDOUT, *STDERR;";
  if (Run({"perl", "-e", set}).status == 127) GTEST_SKIP() << "no perl";
  EXPECT_EQ(Run(flags), before);
}

TEST_F(ShellsTest, DropWhatTheProfilePrints) {
  WriteProfile("echo noise; echo noise >&2; printf 'no line end'");
  EXPECT_EQ(Run(kEcho), kEchoed);
}

TEST_F(ShellsTest, FindTheEndHoweverTheStreamIsCut) {
  for (const std::size_t size : {1U, 2U, 7U}) {
    options_.piece_size = size;
    Restart();
    EXPECT_EQ(Bash("printf limactl-mcp-; printf error >&2; exit 3"),
              (Result{3, "limactl-mcp-", "error"}));
    EXPECT_EQ(Bash("head -c 60000 /dev/zero >&2").error.size(), 60'000U);
  }
}

TEST_F(ShellsTest, PassOnMuchOutput) {
  Run(kEcho);
  const std::clock_t begin = std::clock();  // of this process: others may use the machine
  EXPECT_EQ(Bash("head -c 16000000 /dev/zero").output.size(), 16'000'000U);
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
}

TEST_F(ShellsTest, LeaveBackgroundProcessesAlone) {
  const std::string wait =
      "sh -c 'touch up; until [ -e go ]; do sleep 0.01; done; seq 100000; seq 100000 >&2; touch "
      "done'";
  for (const std::string& script :
       {wait + " & ", "timeout 60 " + wait + " & ", "set -m; " + wait + " & ",
        "timeout 60 " + wait + " & for i in {1..1100}; do (:); done; "}) {
    SCOPED_TRACE(script);
    Restart();
    EXPECT_EQ(Bash(script + "until [ -e up ]; do sleep 0.01; done").status, 0);
    EXPECT_EQ(Run(kEcho), kEchoed);
    Write(work_ + "/go", "");
    EXPECT_EQ(Run({"sleep", "0.05"}), (Result{0, "", ""})) << "somebody else's output";
    EXPECT_TRUE(Comes("done"));
    EXPECT_EQ(launcher_->started(), 2U);
    for (const char* name : {"/go", "/up", "/done"}) std::filesystem::remove(work_ + name);
  }
}

TEST_F(ShellsTest, StayAfterACommandThatLeavesNothingInTheirSession) {
  const Result daemon = Run({"eval",
                             "setsid sh -c 'touch up; exec sleep 2' >/dev/null 2>&1 & "
                             "until [ -e up ]; do sleep 0.01; done; echo x"});
  const Result many = Bash("for i in {1..2100}; do (:); done; cat <(echo x)");
  const Result stopped = Bash("(sleep 0.1; kill -CONT $$) & kill -STOP $$; wait; echo x");
  const Result signals =
      Run({"sh", "-c", "for s in TERM HUP INT; do kill -$s $PPID; sleep 0.05; done; echo x"});
  for (const Result& result : {daemon, many, stopped, signals, Run(kEcho)}) {
    EXPECT_EQ(result, kEchoed);
  }
  EXPECT_EQ(launcher_->started(), 1U);
}

TEST_F(ShellsTest, KeepTheOutputOfADaemonOutOfLaterCommands) {
  for (const std::string daemon : {"setsid ", "nohup setsid ", "setsid -f ", "setsid nohup "}) {
    for (const char* where : {"", ">/dev/null", "2>/dev/null"}) {
      SCOPED_TRACE(daemon + where);
      Restart();
      const std::string loop =
          "sh -c 'touch up; until [ -e go ]; do echo noise; echo noise >&2; sleep 0.01; done; "
          "touch done' ";
      EXPECT_EQ(Bash(daemon + loop + where + " & until [ -e up ]; do sleep 0.01; done").status, 0);
      for (int i = 0; i < 2; ++i)
        EXPECT_EQ(Bash("echo hello; sleep 0.1; echo bye"), (Result{0, "hello\nbye\n", ""}));
      Write(work_ + "/go", "");
      EXPECT_TRUE(Comes("done"));
      for (const char* name : {"/go", "/up", "/done"}) std::filesystem::remove(work_ + name);
    }
  }
}

TEST_F(ShellsTest, LeaveABackgroundProcessAloneWhenDestroyedAtOnce) {
  Bash("(until [ -e go ]; do sleep 0.01; done; touch done) >/dev/null 2>&1 & :");
  shells_.reset();
  EXPECT_TRUE(Eventually([&] { return IsGone(launcher_->sessions().front()); }));
  Write(work_ + "/go", "");
  EXPECT_TRUE(Comes("done"));
}

TEST_F(ShellsTest, ReadAChangedProfileAgain) {
  Run(kEcho);
  for (const char* value : {"1", "2"}) {
    WriteProfile("export EDITED=" + std::string(value));
    EXPECT_EQ(Bash("echo $EDITED").output, value + std::string("\n"));
  }
  const std::size_t started = launcher_->started();
  EXPECT_EQ(Bash("echo $EDITED").output, "2\n");
  EXPECT_EQ(launcher_->started(), started);
  std::filesystem::remove(home_.path() / ".bash_profile");
  EXPECT_EQ(Bash("echo $EDITED").output, "\n");
}

TEST_F(ShellsTest, RunTheCommandOnceWhenTheProfileChangesItself) {
  WriteProfile("echo export A=1 >>~/.bashrc");
  for (int i = 0; i < 2; ++i) Bash("echo x >>runs; sync");
  EXPECT_EQ(std::filesystem::file_size(work_ + "/runs"), 4U);
}

TEST_F(ShellsTest, StartALoginShellPerCommandWhenTheProfileIsUnfit) {
  for (const char* profile :
       {"set -e", "set -x", "set -u", "exec 2>&1", "exec >/dev/null", "trap 'echo bye' EXIT",
        "trap 'echo debug >&2' DEBUG", "trap '' TERM",
        "shopt -s expand_aliases; alias true='echo alias'", "eval() { echo mine; }",
        "readonly _lm_marker=1", "exec 9<&- 8>&- 7>&-"}) {
    SCOPED_TRACE(profile);
    WriteProfile(profile);
    Restart();
    for (const char* command :
         {"true", "eval 'echo $-; exit 4'", "pwd", "bash -c 'echo x >&2; kill -TERM $$'"}) {
      EXPECT_EQ(RunCommand({command, "", work_, "/bin/bash"}), Plainly("/bin/bash", command));
    }
    EXPECT_EQ(launcher_->started(), 1U + 2 * 4U) << "it is not tried again";
  }
}

TEST_F(ShellsTest, ReportThatTheProfileEndedOrReplacedTheShell) {
  for (const char* profile :
       {"exit 0", "exit 3", "exec /bin/sh", "exec dash -l", "exec bash", "exec cat", "set -n",
        "exec true", "case $- in *i*) ;; *) exec dash -l ;; esac", "trap 'exit 0' DEBUG"}) {
    SCOPED_TRACE(profile);
    WriteProfile(profile);
    Restart();
    for (int i = 0; i < 2; ++i) {
      TextSink sink;
      EXPECT_FALSE(shells_->RunCommand({"echo x", "echo", work_, "/bin/bash"}, sink, {}).began);
      EXPECT_EQ(sink.output, "");
    }
    Processes processes;
    EXPECT_THAT(
        [&] {
          processes.Start({"echo x", "", work_, "/bin/bash"}, "/host", *launcher_, {}, {});
        },
        ThrowsMessage<support::Error>(HasSubstr("check ~/.bash_profile")));
  }
}

TEST_F(ShellsTest, RunCommandsInTheirDirectoryWhateverTheProfileDoes) {
  for (const std::string profile :
       {"cd /", "cd ~; pushd /tmp >/dev/null", "go() { cd / && cd usr; }; go",
        "cd() { builtin cd \"$@\" && ls /; }; builtin cd /", "CDPATH=/:/usr; cd /tmp"}) {
    for (const char* unfit : {"", "; set -u"}) {
      SCOPED_TRACE(profile + unfit);
      WriteProfile(profile + unfit);
      Restart();
      EXPECT_EQ(Run({"pwd"}).output, work_ + "\n");
      Processes processes;
      const std::string id =
          processes.Start({"pwd", "", work_, "/bin/bash"}, "/host", *launcher_, {}, {});
      EXPECT_EQ(processes.Read(id, 0, Processes::Wait::kForEnd, 20s, {}).piece.text, work_ + "\n");
    }
  }
  WriteProfile("cd /");
  Restart();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Run(kEcho), kEchoed);
  EXPECT_EQ(launcher_->started(), 1U) << "the shell stays";
}

TEST_F(ShellsTest, KeepAShellAgainOnceTheProfileNoLongerChangesItself) {
  WriteProfile("[ $(wc -l <~/.bashrc || echo 0) -ge 2 ] || echo : >>~/.bashrc");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Run(kEcho), kEchoed);
  const std::size_t started = launcher_->started();
  EXPECT_EQ(Run(kEcho), kEchoed);
  EXPECT_EQ(launcher_->started(), started);
}

TEST_F(ShellsTest, OpenNoEditor) {
  const std::string edit = "echo \"${GIT_EDITOR-unset}\"";
  const std::pair<const char*, const char*> profiles[] = {
      {"", "true\n"},
      {"export EDITOR=vi VISUAL=vi", "true\n"},
      {"export GIT_EDITOR=mine", "mine\n"},
      {"export GIT_EDITOR=mine; set -u", "mine\n"},
      {"set -u", "true\n"}};
  for (const auto& [profile, expected] : profiles) {
    WriteProfile(profile);
    Restart();
    EXPECT_EQ(Bash(edit).output, expected) << profile;
    EXPECT_EQ(Run({"GIT_EDITOR=given", "bash", "-c", edit}).output, "given\n");
  }
}

TEST_F(ShellsTest, TakeTimeInProportionToTheText) {
  const auto time_of = [&](const Words& words, const char* shell) {
    auto least = support::Clock::duration::max();  // of three: the machine may be busy
    for (int i = 0; i < 3; ++i) {
      const auto begin = support::Clock::now();
      EXPECT_EQ(RunIn(shell, words).status, 0);
      least = std::min(least, support::Clock::now() - begin);
    }
    return least;
  };
  std::string lines;
  std::string here = "cat >/dev/null <<END\n";
  for (int i = 0; i < 20'000; ++i) lines += ":\n";
  for (int i = 0; i < 8000; ++i) here += "line " + std::to_string(i) + "\n";
  here += "END\n";
  for (const char* shell : {"/bin/bash", "/bin/dash"}) {
    Run({"true"});
    const auto one_line = time_of({"bash", "-c", ": " + std::string(lines.size(), 'x')}, shell);
    EXPECT_LT(time_of({"bash", "-c", lines}, shell), 10 * one_line + 100ms) << shell;
    EXPECT_LT(time_of({"bash", "-c", here}, shell), 10 * one_line + 100ms) << shell;
    EXPECT_LT(time_of({"printf", "", lines}, shell), 10 * one_line + 100ms) << shell;
  }
}

TEST_F(ShellsTest, TryALoginShellAgainThatWasKilledAtItsStart) {
  WriteProfile("[ -e " + work_ + "/ran ] || { touch " + work_ + "/ran; kill -KILL $$; }");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(kEcho), kEchoed);
  EXPECT_EQ(launcher_->started(), 3U) << "the killed one, one for a single command, one that stays";
}

TEST_F(ShellsTest, StartOtherLoginShellsForEachCommand) {
  for (const char* shell : {"/bin/sh", "/bin/dash", "/usr/bin/zsh", "/usr/bin/fish", "/bin/tcsh"}) {
    if (!std::filesystem::exists(shell)) continue;
    for (const char* command : {"echo 'a b'", "sh -c 'echo out; echo err >&2; exit 3'", "nosuch",
                                "sh -c 'kill -KILL $$'", "pwd", "cat", "sort /proc/self/limits"}) {
      EXPECT_EQ(RunCommand({command, "", work_, shell}), Plainly(shell, command))
          << shell << ": " << command;
    }
  }
  RunIn("/bin/dash", kEcho);
  EXPECT_EQ(RunIn("", {"eval", "echo $0"}).output, "/bin/bash\n");
}

TEST_F(ShellsTest, ReportThatTheLoginShellIsMissing) {
  for (const char* shell : {"/nonexistent/bash", "/nonexistent/zsh"}) {
    const Result result = RunIn(shell, kEcho);
    EXPECT_EQ(result.status, 127);
    EXPECT_TRUE(result.shell_missing);
  }
  EXPECT_FALSE(RunIn("/bin/dash", {"nosuch"}).shell_missing);
}

TEST_F(ShellsTest, NoticeThatTheirDirectoryWasReplaced) {
  const std::string work = std::exchange(work_, work_ + "/inner");
  EXPECT_EQ(Run({"pwd"}).status, 1);
  EXPECT_THAT(Run({"pwd"}).error, HasSubstr("inner: No such file or directory"));
  std::filesystem::create_directory(work_);
  EXPECT_EQ(Run({"pwd"}).output, work_ + "\n");
  std::filesystem::rename(work_, work + "/old");
  EXPECT_THAT(Run({"pwd"}).error, HasSubstr("inner: No such file or directory"));
  std::filesystem::create_directory(work_);
  Write(work_ + "/new", "");
  EXPECT_EQ(Run({"ls"}).output, "new\n");
}

TEST_F(ShellsTest, SurviveACommandThatKillsThem) {
  for (const char* command :
       {"kill -KILL $PPID", "kill -KILL -- -$(ps -o pgid= -p $$ | tr -d ' ')", "pkill bash -s 0",
        "kill -TERM 0", "kill -HUP 0", "kill -KILL $(ps -o pid= -s $(ps -o sid= -p $$))"}) {
    const Result result = Run({"bash", "-c", std::string("echo x; ") + command + "; sleep 0.1"},
                              support::Context().WithTimeout(20s));
    EXPECT_EQ(result.output, "x\n") << command;
    EXPECT_GT(result.status.value_or(0), 128) << command;
    EXPECT_EQ(Run(kEcho), kEchoed) << command;
  }
}

TEST_F(ShellsTest, AreReplacedAfterTheyWereKilled) {
  Run(kEcho);
  Script(":");
  for (const pid_t session : launcher_->sessions()) kill(-session, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return Run(kEcho) == kEchoed; }));
  EXPECT_EQ(Script("echo x"), kEchoed);
}

TEST_F(ShellsTest, RunCommandsBesideEachOther) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 30; ++i) {
    threads.emplace_back([&, i] {
      if ((i % 2 == 0 ? Run(kEcho) : Script("echo x")) == kEchoed) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 30);
}

TEST_F(ShellsTest, WaitForAShellInOrderOnceThereAreTooMany) {
  std::vector<std::thread> threads;
  std::vector<TextSink> sinks(kMaxChannels - 2 + 6);
  const auto run = [&](TextSink& sink, const std::string& script) {
    threads.emplace_back([&sink, script, this] {
      EXPECT_EQ(shells_->RunCommand({script, "", work_, "/bin/bash"}, sink, {}).exit_status, 0);
    });
  };
  const auto lines_of = [&](const char* name) {
    std::ifstream file(work_ + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (std::size_t i = 0; i < kMaxChannels - 2; ++i) {
    run(sinks[i], "echo >>runs; until [ -e go" + std::to_string(i) + " ]; do sleep 0.01; done");
  }
  EXPECT_TRUE(Eventually([&] { return lines_of("/runs").size() == kMaxChannels - 2; }));
  std::string in_order;
  for (std::size_t i = kMaxChannels - 2; i < sinks.size(); ++i) {
    run(sinks[i], "echo " + std::to_string(i) + " >>order");
    EXPECT_TRUE(Eventually([&] { return sinks[i].queued.load(); }));
    in_order += std::to_string(i) + "\n";
  }
  EXPECT_EQ(Script("echo x"), kEchoed) << "scripts have shells of their own";
  EXPECT_THROW(Run(kEcho, support::Context().WithTimeout(100ms)), support::Stopped);
  Write(work_ + "/go0", "");
  EXPECT_TRUE(Eventually([&] { return lines_of("/order") == in_order; })) << lines_of("/order");
  for (std::size_t i = 1; i < kMaxChannels - 2; ++i) Write(work_ + "/go" + std::to_string(i), "");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(launcher_->started(), kMaxChannels - 2 + 1);
}

TEST_F(ShellsTest, SayWhatUsesTheChannels) {
  struct Sink final : OutputSink {
    bool OnOutput(Stream, std::string_view) override { return true; }
    void OnQueued(const std::string& running) override {
      text = running;
      queued = true;
    }
    std::string text;
    std::atomic<bool> queued = false;
  };
  shells_->SetChannels(3, 0);
  EXPECT_EQ(shells_->Running(), "other calls use the channels");
  WriteProfile("until [ -e " + work_ + "/go ]; do sleep 0.01; done");
  std::vector<Sink> sinks(3);
  std::vector<std::thread> threads;
  const auto run = [&](Sink& sink) {
    threads.emplace_back([&] { shells_->RunCommand({":", "", work_, "/bin/bash"}, sink, {}); });
  };
  const std::string two = "2 commands are being started";
  run(sinks[0]);
  run(sinks[1]);
  EXPECT_TRUE(Eventually([&] { return shells_->Running() == two; })) << shells_->Running();
  run(sinks[2]);
  EXPECT_TRUE(Eventually([&] { return sinks[2].queued.load(); }));
  EXPECT_EQ(sinks[2].text, two);
  shells_->SetChannels(3, 2);
  EXPECT_EQ(shells_->Running(&sinks[0]), "1 command is being started, 2 processes run");
  Write(work_ + "/go", "");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shells_->Running(), "2 processes run");
}

TEST_F(ShellsTest, ServeAllDirectories) {
  const std::string work = work_;
  for (const char* name :
       {"a b", "it's", "back\\slash", "new\nline\n", "\xC3\xA9\xFF", "-P", "%s"}) {
    work_ = work + "/" + name;
    std::filesystem::create_directory(work_);
    EXPECT_EQ(Run({"eval", "printf %s \"$PWD\"; ls"}), Plainly("/bin/bash", "printf %s \"$PWD\""));
  }
  EXPECT_EQ(launcher_->started(), 1U + 7U);
  work_ = work;
}

TEST_F(ShellsTest, RunAWordWithADashAsCommand) {
  const Result result = Run({"-x"});
  EXPECT_EQ(result.status, 127);
  EXPECT_THAT(result.error, HasSubstr("-x: command not found"));
}

TEST_F(ShellsTest, OfAnotherProgramAreClosedOnceThereAreTooMany) {
  for (std::size_t i = 0; i < kMaxChannels - 2 + 3; ++i) {
    const std::string directory = work_ + "/" + std::to_string(i);
    std::filesystem::create_directory(directory);
    std::filesystem::create_symlink("/bin/bash", directory + "/bash");
    EXPECT_EQ(RunIn(directory + "/bash", kEcho), kEchoed);
  }
  std::size_t closed = 0;
  const auto make_room = [&] { return shells_->MakeRoom(); };
  while (closed < kMaxChannels - 2 && Eventually(make_room)) ++closed;
  EXPECT_EQ(closed, kMaxChannels - 2);
  EXPECT_FALSE(Eventually(make_room, 100ms));
}

TEST_F(ShellsTest, GiveUpAProfileThatPrintsWithoutEnd) {
  WriteProfile("[ -e ~/ran ] || { touch ~/ran; exec yes; }");
  EXPECT_EQ(Run(kEcho, support::Context().WithTimeout(20s)), kEchoed);
}

TEST_F(ShellsTest, RunScriptsWithSeparateStreams) {
  EXPECT_EQ(Script("echo out; echo err >&2; cat; exit 7"), (Result{7, "out\n", "err\n"}));
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "value=" + std::to_string(i) + "\n";
  EXPECT_EQ(Script(lines + "\n\nprintf '%s\\n' \"$value\" '\\\\'\n\n").output, "1999\n\\\\\n");
  EXPECT_EQ(launcher_->started(), 1U);
}

class ScriptFunctions : public EachShellTest {
 protected:
  std::string Say(const std::string& word) {
    TextSink sink;
    shells_->RunScript(
        {"say " + word, "defined=$((defined + 1))\nsay() {\n  echo $defined \"$1\"\n}"}, sink, {});
    return sink.output;
  }
};

TEST_P(ScriptFunctions, AreSentToEachShellOnce) {
  EXPECT_EQ(Say("a"), "1 a\n");
  EXPECT_EQ(Script("say() { echo other; }; echo $defined").output, "1\n");
  EXPECT_EQ(Say("b"), "1 b\n");
  EXPECT_EQ(launcher_->started(), 1U);
  while (shells_->MakeRoom()) continue;
  EXPECT_EQ(Say("c"), "1 c\n");
  EXPECT_EQ(launcher_->started(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Shells, ScriptFunctions, kShells, EachShellTest::NameOf);

TEST_F(ShellsTest, StopAScriptWhenItsSinkHasEnough) {
  TextSink sink;
  sink.limit = 1000;
  EXPECT_FALSE(shells_->RunScript({"echo $$ >" + work_ + "/main; exec yes"}, sink, {}).exit_status);
  EXPECT_TRUE(Ends("main"));
  EXPECT_EQ(Script("echo x"), kEchoed);
}

TEST_F(ShellsTest, ReportWhyBinShCannotRun) {
  options_.posix_shell = "/nonexistent/sh";
  Restart();
  EXPECT_THAT([&] { Script(":"); }, ThrowsMessage<support::Error>(HasSubstr("/nonexistent/sh")));
}

/// A shell that answers what it is sent as a test says: standard output, standard error. "M" is the
/// end marker.
class PlayedShell final : public Launcher {
 public:
  using Answers = std::vector<std::pair<std::string, std::string>>;
  explicit PlayedShell(Answers answers) : answers_(std::move(answers)) {}
  ProcessEvents& events() { return *events_; }

  std::unique_ptr<Process> Start(std::string, std::shared_ptr<ProcessEvents> events) override {
    events_ = std::move(events);
    return std::make_unique<Player>(*this);
  }
  void Print(std::string bytes, Stream stream = Stream::kOutput) {
    support::Regex("M").ReplaceAll(bytes, marker_);
    events_->OnOutput(stream, bytes);
  }

 private:
  struct Player final : Process {
    explicit Player(PlayedShell& shell) : played(shell) {}
    void Send(std::string text) override {
      const std::size_t at = text.find("limactl-mcp-");
      if (at != std::string::npos) played.marker_ = text.substr(at, text.find('\n', at) - at);
      const auto [output, error] = played.answers_.at(played.next_++);
      played.Print(output);
      played.Print(error, Stream::kError);
    }
    void EndInput() override {}
    PlayedShell& played;
  };

  Answers answers_;
  std::size_t next_ = 0;
  std::string marker_;
  std::shared_ptr<ProcessEvents> events_;
};

TEST(PlayedShells, AreReadyOnceTheProfilesStandardErrorIsComplete) {
  PlayedShell played(PlayedShell::Answers{{"M ready\n", "a slow profile\n"}});
  Shells shells(played);
  TextSink sink;
  EXPECT_THROW(shells.RunCommand({}, sink, support::Context().WithTimeout(50ms)), support::Stopped)
      << "nothing is sent";
}

TEST(PlayedShells, PassOnTheFirstOutputOfAProcess) {
  PlayedShell played(PlayedShell::Answers{{"M ready\nfirst\n", ""}});
  Processes processes;
  const std::string id = processes.Start({}, "/host", played, {}, {});
  EXPECT_EQ(processes.Read(id, {}, Processes::Wait::kForOutput, 10s, {}).piece.text, "first\n");
  played.events().OnEnd({});
  played.events().OnClosed();
}

TEST(PlayedShells, DropWhatIsPrintedBetweenTwoCommands) {
  PlayedShell played({{"M ready\n", "M\n"},
                      {"one\nM 0\nlate\nM free\n", "error\nM\nlate\n"},
                      {"two\nM 0\nM free\n", "M\n"}});
  Shells shells(played);
  for (const auto& [output, error] : {std::pair("one\n", "error\n"), std::pair("two\n", "")}) {
    TextSink sink;
    shells.RunCommand({}, sink, {});
    EXPECT_EQ(sink.output, output);
    EXPECT_EQ(sink.error, error);
  }
}

TEST(PlayedShells, IgnoreReportsThatTheyDoNotKnow) {
  PlayedShell played(
      {{"M 1\nM ready\n", "M\n"},
       {"one\nM other\nM 99999999999\nM ended x\nM took\nM\nM 7\nM 8\nM free\n", "M\n"}});
  Shells shells(played);
  TextSink sink;
  EXPECT_EQ(shells.RunCommand({}, sink, {}).exit_status, 7);
  EXPECT_EQ(sink.output, "one\n");
}

TEST(PlayedShells, ReportTheStatusBeforeItIsKnownWhatTheCommandHasLeft) {
  PlayedShell played({{"M ready\n", "M\n"}, {"M 3\n", "M\n"}});
  Shells shells(played);
  TextSink sink;
  EXPECT_EQ(shells.RunCommand({}, sink, {}).exit_status, 3);
  EXPECT_FALSE(shells.MakeRoom()) << "the channel is in use";
  EXPECT_THROW(shells.RunCommand({}, sink, support::Context().WithTimeout(50ms)), support::Stopped)
      << "nothing is started, and nothing sent";
  played.Print("M left\n");
  EXPECT_TRUE(shells.MakeRoom());
}

TEST(PlayedShells, KeepTheirChannelUntilBackgroundProcessesHaveEnded) {
  PlayedShell played({{"M ready\n", "M\n"}, {"M 3\nM left\n", "M\n"}});
  Shells shells(played);
  TextSink sink;
  EXPECT_EQ(shells.RunCommand({}, sink, {}).exit_status, 3);
  played.events().OnEnd({});
  played.events().OnClosed();
  EXPECT_FALSE(shells.MakeRoom()) << "the channel is closed already";
}

/// A bash script with a child; both ignore TERM. Writes their process ids to the files main and
/// child, prints "before" and creates the file ready.
constexpr const char* kStubbornCommand =
    "trap '' TERM; (sh -c 'echo $PPID' >child; while :; do sleep 0.2; done) & echo $$ >main; "
    "until [ -s child ]; do sleep 0.01; done; echo before; touch ready; "
    "while :; do sleep 0.2; done";

constexpr const char* kAllStopped =
    "its processes have been stopped; a daemon that it started, or what runs as another user, may "
    "still run";

class StoppedCommands : public EachShellTest {
 protected:
  /// Stops it once it has made the file "ready". Returns what is known of its processes.
  std::string StopWhenReady(const std::string& script, const std::string& shell = "/bin/bash") {
    support::StopSource source;
    std::thread stopper([&] {
      Comes("ready");
      source.Stop(support::StopReason::kCancelled);
    });
    TextSink sink;
    std::string outcome = "it was not stopped";
    try {
      const Words words{"bash", "-c", script};
      shells_->RunCommand({ShellCommand(words), "bash", work_, shell}, sink, source.context());
    } catch (const StoppedCommand& stopped) {
      outcome = stopped.outcome();
    }
    stopper.join();
    output_ = sink.output;
    return outcome;
  }

  std::string output_;  ///< of the command that was stopped last
};

TEST_P(StoppedCommands, EndWithAllTheirProcesses) {
  for (const char* shell : {"/bin/bash", "/bin/dash"}) {
    EXPECT_EQ(StopWhenReady(kStubbornCommand, shell), kAllStopped);
    EXPECT_EQ(output_, "before\n");
    EXPECT_TRUE(Ends("main"));
    EXPECT_TRUE(Ends("child"));
    std::filesystem::remove(work_ + "/ready");
  }
  EXPECT_EQ(Run({"echo", "x"}), (Result{0, "x\n", ""}));
}

TEST_P(StoppedCommands, EndAlsoIfTheGuestCannotSearchForThem) {
  options_.environment.back() = "PATH=" + work_ + ":/usr/bin:/bin";
  Write(work_ + "/grep", "#!/bin/sh\n", true);
  Restart();
  StopWhenReady(kStubbornCommand);
  EXPECT_TRUE(Ends("main"));
  EXPECT_TRUE(Ends("child"));
}

TEST_P(StoppedCommands, GetTheTimeToCleanUp) {
  EXPECT_EQ(StopWhenReady("trap 'echo cleaned; touch cleaned; exit' TERM; touch ready; while :; do "
                          "sleep 0.01; done"),
            kAllStopped);
  EXPECT_EQ(output_, "cleaned\n");
}

TEST_P(StoppedCommands, EndWithOtherProcessGroupsOfTheirSession) {
  EXPECT_EQ(
      StopWhenReady("timeout 60 sh -c 'echo $$ >main; exec sleep 60' & set -m; "
                    "sh -c 'until [ -s main ]; do sleep 0.01; done; echo $$ >child; touch ready; "
                    "exec sleep 60'"),
      kAllStopped);
  EXPECT_TRUE(Ends("main"));
  EXPECT_TRUE(Ends("child"));
}

TEST_P(StoppedCommands, EndWithTheSessionsThatTheyHaveStarted) {
  for (const char* shell : {"/bin/bash", "/bin/dash"}) {
    for (const std::string start :
         {"setsid -w", "sh -c 'setsid -w \"$@\"; :' sh", "setsid setsid -w"}) {
      SCOPED_TRACE(start);
      EXPECT_EQ(
          StopWhenReady(
              start + " sh -c 'trap \"\" TERM; (trap - TERM; exec sleep 60) & echo $! >child; "
                      "echo $$ >main; touch ready; while :; do sleep 0.1; done' & sleep 60",
              shell),
          kAllStopped);
      EXPECT_TRUE(Ends("main"));
      EXPECT_TRUE(Ends("child"));
      for (const char* name : {"/ready", "/main", "/child"}) std::filesystem::remove(work_ + name);
    }
  }
}

TEST_P(StoppedCommands, LeaveTheDaemonsOfEarlierCommandsAlone) {
  Bash(
      "setsid sh -c 'echo $$ >daemon; exec sleep 60' >/dev/null 2>&1 & until [ -s daemon ]; do "
      "sleep 0.01; done");
  EXPECT_EQ(StopWhenReady("touch ready; sleep 60"), kAllStopped);
  pid_t daemon = 0;
  std::ifstream(work_ + "/daemon") >> daemon;
  EXPECT_FALSE(IsGone(daemon));
  kill(daemon, SIGKILL);
}

TEST_P(StoppedCommands, EndWhenTheClientIsGone) {
  std::thread breaker([&] {
    Comes("ready");
    launcher_->BreakConnection();
  });
  try {
    Run({"bash", "-c", kStubbornCommand});
    ADD_FAILURE();
  } catch (const support::ConnectionLost& lost) {
    EXPECT_TRUE(lost.may_have_run());
    EXPECT_THAT(lost.what(), ::testing::EndsWith("; the command may have run"));
  }
  breaker.join();
  EXPECT_TRUE(Ends("main"));
  EXPECT_TRUE(Ends("child"));
}

INSTANTIATE_TEST_SUITE_P(Shells, StoppedCommands, kShells, EachShellTest::NameOf);

TEST_F(ShellsTest, EndWhatTakesTooLong) {
  const Words words{"bash", "-c", "echo before; echo $$ >main; sleep 60"};
  std::string output;
  for (auto time = 1s; !Exists("main"); time *= 4) {
    TextSink sink;
    EXPECT_THROW(shells_->RunCommand({ShellCommand(words), "bash", work_, "/bin/bash"}, sink,
                                     support::Context().WithTimeout(time)),
                 StoppedCommand);
    output = sink.output;
  }
  EXPECT_EQ(output, "before\n");
  EXPECT_TRUE(Ends("main"));
}

TEST_F(ShellsTest, EndAProfileThatTakesTooLong) {
  WriteProfile("echo $$ >" + work_ + "/main; exec sleep 60");
  for (auto time = 1s; !Exists("main"); time *= 4)
    EXPECT_THROW(Run({"true"}, support::Context().WithTimeout(time)), support::Stopped);
  EXPECT_TRUE(Ends("main"));
}

TEST_F(ShellsTest, DoNotWaitForAScriptThatIsStopped) {
  support::StopSource source;
  support::Clock::time_point stopped;
  const auto signal_all = [&](int signal) {
    for (const pid_t session : launcher_->sessions()) kill(-session, signal);
  };
  std::thread stopper([&] {
    Comes("main");
    signal_all(SIGSTOP);  // nothing confirms the end
    stopped = support::Clock::now();
    source.Stop(support::StopReason::kDeadline);
  });
  EXPECT_THROW(Script("trap '' TERM; echo $$ >" + work_ + "/main; while :; do sleep 1; done",
                      source.context()),
               support::Stopped);
  stopper.join();
  EXPECT_LT(support::Clock::now() - stopped, Shells::kStopTimeout / 2);
  signal_all(SIGCONT);
  EXPECT_TRUE(Ends("main"));
}

TEST_F(ShellsTest, ReportThatALostScriptMayBeRepeated) {
  Script(":");
  std::thread breaker([&] {
    Comes("ready");
    launcher_->BreakConnection();
  });
  try {
    Script("touch " + work_ + "/ready; sleep 60");
    ADD_FAILURE();
  } catch (const support::ConnectionLost& lost) {
    EXPECT_FALSE(lost.may_have_run());
    EXPECT_THAT(lost.what(), ::testing::EndsWith("; nothing was changed in the guest"));
  }
  breaker.join();
}

TEST_F(ShellsTest, EndWithTheirOwner) {
  Run({"true"});
  Script(":");
  shells_.reset();
  for (const pid_t session : launcher_->sessions()) {
    EXPECT_TRUE(Eventually([&] { return kill(-session, 0) != 0; }));
  }
}

}  // namespace
}  // namespace shell
