// Commands in login shells that were started ahead of them, against a real sshd: no command can
// tell the difference, and nothing is lost where one could.

#include "tools/warm_shells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ssh/connection.h"
#include "support/errors.h"
#include "testing/guest_processes.h"
#include "testing/loopback_instance.h"
#include "testing/temporary_directory.h"
#include "tools/command_runner.h"
#include "tools/warm_shell_script.h"

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// Commands only; counts how they were started.
class CountingGuest : public guest::Guest {
 public:
  explicit CountingGuest(std::shared_ptr<guest::Guest> guest) : guest_(std::move(guest)) {}

  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override {
    ++cold;
    return guest_->Run(command, sink, context);
  }
  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command command, std::shared_ptr<guest::OutputSink> sink) override {
    ++started;
    return guest_->StartWaiting(std::move(command), std::move(sink));
  }

  guest::FileAttributes Stat(const std::string& path, const support::Context& c) override {
    return guest_->Stat(path, c);
  }
  guest::FileAttributes LStat(const std::string& path, const support::Context& c) override {
    return guest_->LStat(path, c);
  }
  std::string ReadLink(const std::string& path, const support::Context& c) override {
    return guest_->ReadLink(path, c);
  }
  std::string RealPath(const std::string& path, const support::Context& c) override {
    return guest_->RealPath(path, c);
  }
  std::unique_ptr<guest::OpenFile> Open(const std::string& path, guest::OpenMode mode,
                                        std::uint32_t permissions,
                                        const support::Context& c) override {
    return guest_->Open(path, mode, permissions, c);
  }
  std::vector<guest::DirectoryEntry> List(const std::string& path,
                                          const support::Context& c) override {
    return guest_->List(path, c);
  }
  void MakeDirectory(const std::string& path, std::uint32_t permissions,
                     const support::Context& c) override {
    guest_->MakeDirectory(path, permissions, c);
  }
  void Rename(const std::string& from, const std::string& to, const support::Context& c) override {
    guest_->Rename(from, to, c);
  }
  void Unlink(const std::string& path, const support::Context& c) override {
    guest_->Unlink(path, c);
  }
  void SetAttributes(const std::string& path, const guest::AttributeChange& change,
                     const support::Context& c) override {
    guest_->SetAttributes(path, change, c);
  }
  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context& c) override {
    return guest_->StatFileSystem(path, c);
  }

  std::atomic<int> cold = 0;
  std::atomic<int> started = 0;

 private:
  std::shared_ptr<guest::Guest> guest_;
};

class NoProgress : public mcp::ProgressReporter {
 public:
  [[nodiscard]] bool requested() const override { return false; }
  void Report(const std::string&) override {}
};

class WarmShells : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }

  void Start(std::vector<std::string> sshd_options) {
    warm_.reset();
    cold_.reset();
    guest_.reset();
    instance_.reset();
    testing_support::LoopbackInstance::Options options;
    options.lima_home = directory_.path() / "lima";
    options.sshd_options = std::move(sshd_options);
    instance_ = std::make_unique<testing_support::LoopbackInstance>(std::move(options));
    std::filesystem::create_directories(work_);
    Connect();
  }

  void Connect() {
    const ssh::Endpoint endpoint{
        "127.0.0.1", instance_->port(), instance_->user(), {instance_->identity_file()}, ""};
    guest_ =
        std::make_unique<CountingGuest>(ssh::Connection::Open(endpoint, {}, support::Context()));
    Restart();
  }

  void Restart() {
    options_.warm_shells = false;
    cold_ = std::make_unique<tools::CommandRunner>(options_);
    options_.warm_shells = true;
    warm_ = std::make_unique<tools::CommandRunner>(options_);
  }

  void Write(const std::filesystem::path& path, const std::string& text, bool executable = false) {
    std::ofstream(path, std::ios::trunc) << text;
    if (executable) std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  [[nodiscard]] std::filesystem::path Home() const { return instance_->directory() / "guest-home"; }
  void WriteProfile(const std::string& text) { Write(Home() / ".bash_profile", text); }

  nlohmann::json Cold(const Words& words) { return RunBy(*cold_, words); }
  /// Takes the shell that the command before has left.
  nlohmann::json Warm(const Words& words, const support::Context& context = {}) {
    return RunBy(*warm_, words, context);
  }
  nlohmann::json RunBy(tools::CommandRunner& runner, const Words& words,
                       const support::Context& context = {}) {
    return runner.Run(*guest_, {words, work_, shell_}, context, progress_).structured;
  }
  static Words Eval(const std::string& script) { return {"eval", script}; }
  static Words Bash(const std::string& script) { return {"bash", "-c", script}; }

  /// How many commands `work` has started the cold way.
  template <typename Work>
  int ColdStarts(const Work& work) {
    const int before = guest_->cold;
    work();
    return guest_->cold - before;
  }

  void Compare(const Words& words) {
    const nlohmann::json cold = WithoutProcessIds(Cold(words));
    const nlohmann::json warm = WithoutProcessIds(Warm(words));
    EXPECT_EQ(warm, cold) << nlohmann::json(words).dump(-1, ' ', false,
                                                        nlohmann::json::error_handler_t::replace);
  }

  /// In "line 1: 1234 Killed …" of bash.
  static nlohmann::json WithoutProcessIds(nlohmann::json result) {
    result["stderr"] = std::regex_replace(result["stderr"].get<std::string>(),
                                          std::regex("(line [0-9]+: *)[0-9]+ "), "$1PID ");
    return result;
  }

  void CompareCorpus();

  template <typename Condition>
  static bool Happens(const Condition& condition) {
    const auto deadline = support::Clock::now() + 20s;
    while (!condition()) {
      if (support::Clock::now() > deadline) return false;
      std::this_thread::sleep_for(2ms);  // between two looks
    }
    return true;
  }

  static std::uintmax_t FileSize(const std::filesystem::path& path) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(path, missing);
    return missing ? 0 : size;
  }

  /// Whether the process that a file in the working directory names is gone within three seconds,
  /// or only waits to be reaped.
  [[nodiscard]] bool EndsSoon(const std::string& file) const {
    std::string pid;
    std::ifstream(work_ + "/" + file) >> pid;
    const auto deadline = support::Clock::now() + 3s;
    while (support::Clock::now() < deadline) {
      std::ifstream status("/proc/" + pid + "/stat");
      const std::string stat((std::istreambuf_iterator<char>(status)), {});
      if (stat.empty() || stat.find(") Z ") != std::string::npos) return true;
      std::this_thread::sleep_for(10ms);  // between two looks
    }
    return false;
  }

  /// How often the guest's processes have run so far, sshd's own included.
  [[nodiscard]] long ContextSwitchesInGuest() const {
    long all = 0;
    for (const auto& process : testing_support::GuestProcesses(*instance_)) {
      std::ifstream status("/proc/" + std::to_string(process.pid) + "/status");
      for (std::string word; status >> word;) {
        long times = 0;
        if (word.find("voluntary_ctxt_switches:") != std::string::npos && status >> times) {
          all += times;
        }
      }
    }
    return all;
  }

  [[nodiscard]] std::filesystem::path Path(const std::string& name) const {
    return directory_.path() / name;
  }

  /// A command with a child, both deaf to TERM, that tells both process ids.
  static constexpr const char* kStubborn =
      "trap '' TERM; (echo $BASHPID >child; while :; do sleep 0.2; done) & echo $$ >main; "
      "echo before; echo before2 >&2; touch ready; while :; do sleep 0.2; done";

  testing_support::TemporaryDirectory directory_;
  std::string work_ = directory_.path() / "work";
  std::string shell_ = "/bin/bash";
  std::unique_ptr<testing_support::LoopbackInstance> instance_;
  std::unique_ptr<CountingGuest> guest_;
  tools::CommandRunner::Options options_;
  std::unique_ptr<tools::CommandRunner> cold_;
  std::unique_ptr<tools::CommandRunner> warm_;
  NoProgress progress_;
};

constexpr const char* kLeader =
    "set -- $$ $(ps -o pgid=,sid=,tty= -p $$); [ $1 = $2 ] && [ $2 = $3 ] && echo leader $4";

/// Commands that show what a command can see of where it runs, and all ways in which one ends.
std::vector<Words> Corpus() {
  const auto eval = [](const std::string& script) { return Words{"eval", script}; };
  const auto bash = [](const std::string& script) { return Words{"bash", "-c", script}; };
  const auto sh = [](const std::string& script) { return Words{"sh", "-c", script}; };
  return {
      // The environment and the variables of the shell.
      {"sort", "-z", "/proc/self/environ"},
      {"A=1 2", "B=$x", "sort", "-z", "/proc/self/environ"},
      {"A+=1", "FROM_PROFILE+=c", "sort", "-z", "/proc/self/environ"},
      bash("env | sort"),
      sh("env | sort"),
      {"/usr/bin/sort", "-z", "/proc/self/environ"},
      {"HOME=/", "TZ=UTC", "sh", "-c", "echo $HOME $TZ; date +%Z"},
      {"LC_ALL=C", "sh", "-c", "echo $LC_ALL"},
      {"PATH=/nonexistent", "ls"},
      {"IFS=x", "sh", "-c", "echo a"},
      {"A=1"},
      {"A=1", "B=2"},
      {"A=1", "eval", "echo $A"},
      {"A=$(id)", "sh", "-c", "echo $A"},
      {"1A=1"},
      eval("echo $0 $# $- $_ $? $BASH_SUBSHELL $SHLVL"),
      eval("echo \"$_\""),
      eval("echo \"$?\""),
      eval("echo \"$BASH_EXECUTION_STRING\"; echo \"$BASH_COMMAND\""),
      eval("echo $((SECONDS < 5)) $PWD $OLDPWD; pwd -P; dirs"),
      eval("echo ${BASH_SOURCE[@]} ${FUNCNAME[@]} ${BASH_LINENO[@]} $LINENO\necho $LINENO"),
      eval("declare -p | grep -vE "
           "'^declare -[a-zA-Z-]+ "
           "(RANDOM|SRANDOM|EPOCHREALTIME|EPOCHSECONDS|BASHPID|PPID|SECONDS|PIPESTATUS)(=|$)'"),
      eval("declare -f; declare -F; alias; hash; complete"),
      eval("set -o; shopt; trap -p; jobs; enable"),
      eval("[ $$ = $BASHPID ] && echo same; echo ${!:+some}; [ $PPID -gt 1 ] && echo parent"),
      {"set", "--", "a"},
      {"NOT_EXPORTED=2"},
      eval("echo $NOT_EXPORTED $FROM_PROFILE"),
      // Directory, permissions, limits, streams, signals, processes.
      {"pwd"},
      {"/bin/pwd"},
      {"cd", "/"},
      eval("cd /; pwd; echo $OLDPWD; cd -"),
      {"umask"},
      sh("umask; touch made; stat -c %a made; rm made"),
      {"ulimit", "-a"},
      sh("ulimit -a"),
      {"ls", "/proc/self/fd"},
      eval("for f in 0 1 2 3 4 5 6 7 8 9 10 11; do [ -e /proc/$$/fd/$f ] && echo $f; done"),
      {"readlink", "/proc/self/fd/0"},
      {"cat"},
      {"head", "-c", "3"},
      {"read", "x"},
      eval("read x; echo $?"),
      {"grep", "-E", "^(Sig(B|I|C)|Umask|Uid|Gid|Groups|Cap|NoNewPrivs)", "/proc/self/status"},
      eval("grep -E '^Sig(Blk|Ign)' /proc/$$/status"),
      sh("exec grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status"),
      {"nice"},
      {"tty"},
      {"test", "-t", "1"},
      {"id"},
      eval(kLeader),
      bash(kLeader),
      sh(kLeader),
      sh("ps -o args= -p $PPID"),
      eval("ps -o args= -p $PPID"),
      eval("sh -c 'ps -o comm= -p $PPID'"),
      {"nohup", "echo", "x"},
      bash("yes | head -3; echo ${PIPESTATUS[@]}"),
      // Exit codes, signals.
      {"true"},
      {"false"},
      sh("echo out; echo err >&2; exit 3"),
      {"exit", "5"},
      {"exit"},
      eval("exit 7"),
      eval("(exit 9)"),
      bash("exit 137"),
      {"logout"},
      {"return"},
      {"break"},
      {"suspend"},
      eval("echo before; kill -KILL $$"),
      bash("echo before; kill -KILL $$"),
      bash("kill -TERM $$; sleep 1"),
      sh("kill -HUP $$"),
      sh("kill -SEGV $$"),
      eval("kill -INT $$; echo after"),
      eval("kill -PIPE $$; echo after"),
      eval("sh -c 'kill -KILL $$'"),
      eval("echo a; kill 0; sleep 5"),
      bash("echo a; kill 0; sleep 5"),
      eval("kill -KILL 0"),
      // What is a command, and what is not.
      {"nosuch"},
      {"./nosuch"},
      {"/nosuch/x"},
      {"nosuch", "two words"},
      {"echo \"a\" | wc"},
      {""},
      {"/tmp"},
      {"."},
      {"./plain"},
      {"./no-shebang", "x y", ""},
      {"./bad-interpreter"},
      {"./script", "x y", "*"},
      {"./binary"},
      {"source", "./library", "a b"},
      {"test", "1", "-eq", "2"},
      {"[", "a", "=", "a", "]"},
      {"if", "x"},
      {"then"},
      {"!", "true"},
      {"{", "echo", "}"},
      {"exec", "sh", "-c", "exit 4"},
      {"exec", "nosuch"},
      {"exec"},
      {"command", "echo", "x"},
      {"command", "-v", "ls"},
      {"builtin", "echo", "x"},
      {"type", "ls", "cd", "if", "greet", "ll"},
      {"%1"},
      {"-n"},
      {"--", "ls"},
      {"hash", "-t", "ls"},
      {"greet", "you"},
      {"ll"},
      {"tool-of-profile"},
      {"exported"},
      bash("exported"),
      {"history"},
      {"caller"},
      {"shift"},
      {"wait"},
      {"jobs"},
      {"fg"},
      {"trap"},
      {"local", "x"},
      // Quoting, bytes, length.
      {"printf", "%s|", "a b", "", "it's", "$(id)", "\n", "\\", "\"", "`id`"},
      {"printf", "%s|", "a\nb\n\n", "\t", "\x01\x02\x7f", "\xff\xfe", "\xc3\xa9", "!!", "#"},
      {"echo", "~", "*", "{a,b}", "$HOME", "?", "[a]", "a=b", "&", ";", "|", "<", ">"},
      {"echo", "-e", "a\\tb\\0101"},
      {"LIMACTL_MCP=1", "sh", "-c", "echo $LIMACTL_MCP"},
      {"V=\n'\xff", "sh", "-c", "printf %s \"$V\" | od -c"},
      {"echo", std::string(3000, 'x')},
      {"echo", std::string(2000, '\'')},
      {"echo", std::string(100'000, 'y')},
      sh("seq 20000; seq 20000 >&2"),
      sh("head -c 300000 /dev/zero | tr '\\0' x"),
      // What a shell does by and by.
      eval("trap 'echo bye' EXIT; echo x"),
      eval("trap 'echo got' TERM; kill -TERM $$; echo after"),
      eval("trap 'echo debug' DEBUG; echo x"),
      eval("set -e; false; echo no"),
      eval("set -u; echo $NOT_DEFINED"),
      eval("set -x; echo x"),
      eval("set -o pipefail; false | true; echo $?"),
      eval("echo one\nnosuch2\necho three"),
      eval("if"),
      eval("echo (("),
      eval("sleep 0 & wait $!; echo $?; jobs"),
      eval("set -m; sleep 0 & wait; echo done"),
      eval("(sleep 1; echo late) & echo early"),
      eval("coproc cat; echo started"),
      eval("exec 3>&1; echo x >&3; exec 3>&-"),
      eval("exec >/dev/null; echo hidden"),
      eval("exec 2>&1; echo both >&2"),
      eval("exec sh -c 'exit 4'"),
      eval("unset PATH; ls"),
      eval("shopt login_shell; ulimit -c 0; umask 0; echo $(umask)"),
      eval("cat <<< here; cat <(echo there)"),
      eval("time true 2>/dev/null; echo $?"),
  };
}

void WarmShells::CompareCorpus() {
  Write(work_ + "/plain", "not executable\n");
  Write(work_ + "/no-shebang", "echo \"$0\" $# \"$1\"; shopt -p expand_aliases 2>&1; exit 6\n",
        true);
  Write(work_ + "/bad-interpreter", "#!/nosuch/interpreter\n", true);
  Write(work_ + "/script", "#!/bin/bash\necho \"$0\" \"$@\" $-; exit 8\n", true);
  Write(work_ + "/binary",
        std::string("\x7f"
                    "ELF\0\0\0\0",
                    8),
        true);
  Write(work_ + "/library", "echo \"$0\" $# \"$1\" ${BASH_SOURCE[0]}; return 3\n");
  std::filesystem::create_directories(Home() / "bin");
  Write(Home() / "bin/tool-of-profile", "#!/bin/sh\necho tool\n", true);
  Warm({"true"});  // leaves the first shell
  const std::vector<Words> corpus = Corpus();
  ASSERT_GE(corpus.size(), 60U);
  const auto needs_new_shell = [&](const Words& words) {
    return !tools::WarmShellInput(words, work_, "refusal");
  };
  const auto new_shells = std::count_if(corpus.begin(), corpus.end(), needs_new_shell);
  EXPECT_LT(new_shells, 30);
  const int cold_starts = ColdStarts([&] {
    for (const Words& words : corpus) Compare(words);
  });
  // A machine under load may now and then not have the next shell's channel: that costs only time.
  const auto without_warm_shells = static_cast<int>(corpus.size() + corpus.size());
  const auto expected = static_cast<int>(corpus.size()) + static_cast<int>(new_shells);
  EXPECT_GE(cold_starts, expected);
  EXPECT_LE(cold_starts, expected + (without_warm_shells - expected) / 10);
}

TEST_F(WarmShells, AreLikeOthersWithoutAProfile) {
  CompareCorpus();
}

TEST_F(WarmShells, AreLikeOthersWithAProfile) {
  WriteProfile(
      "echo from the profile; echo error of the profile >&2; printf 'no line end'\n"
      "export FROM_PROFILE='a b'; NOT_EXPORTED=1; umask 027; ulimit -n 512\n"
      "greet() { echo \"hello $1 $FUNCNAME $#\"; }; exported() { echo exported; }\n"
      "export -f exported; alias ll='ls -l'; shopt -s extglob globstar nullglob failglob\n"
      "PATH=$HOME/bin:$PATH; set -o pipefail; set +o pipefail; IFS=$' \\t\\n:'\n"
      "cat; sleep 0 & wait; false last\n");
  CompareCorpus();
}

TEST_F(WarmShells, SeeWhatTheCommandBeforeDidToTheProfile) {
  Warm({"true"});
  for (const char* value : {"1", "2", "3"}) {
    Warm(Bash("echo export EDITED=" + std::string(value) + " >~/.bash_profile"));
    EXPECT_EQ(Warm(Bash("echo $EDITED"))["stdout"], value + std::string("\n"));
  }
}

TEST_F(WarmShells, AreNotUsedAfterAProfileInWhichTheyWouldBeDifferent) {
  for (const char* profile :
       {"exit 3", "exec /bin/sh", "exec cat", "set -e", "set -x", "set -o posix", "cd /",
        "trap 'echo bye' EXIT", "trap 'echo debug' DEBUG", "trap '' TERM",
        "shopt -s expand_aliases; alias true='echo alias'", "eval() { echo mine; }",
        "exec() { echo mine; }", "kill -KILL $$", "readonly LIMACTL_MCP=1"}) {
    SCOPED_TRACE(profile);
    WriteProfile(profile);
    Restart();
    Warm({"true"});
    const int before = guest_->cold;
    for (const Words& words : std::vector<Words>{
             {"true"}, Eval("echo $-; exit 4"), {"pwd"}, Bash("echo x >&2; kill -TERM $$")}) {
      Compare(words);
    }
    EXPECT_EQ(guest_->cold - before, 8);
  }
}

TEST_F(WarmShells, AreUsedAfterAProfileThatMovesItsOutput) {
  for (const char* profile : {"exec 2>&1", "exec >/dev/null", "exec 1>&2", "exec <&-"}) {
    SCOPED_TRACE(profile);
    WriteProfile(profile);
    Restart();
    Warm({"true"});
    EXPECT_EQ(ColdStarts([&] { Compare(Bash("echo out; echo err >&2")); }), 1);
  }
}

TEST_F(WarmShells, AreNotTriedAgainAndAgainWhereTheyFail) {
  WriteProfile("exit 0");
  for (int i = 0; i < 8; ++i) Warm({"true"});
  EXPECT_LE(guest_->started, tools::WarmShells::kMostFailures);
}

TEST_F(WarmShells, AreOnlyForBash) {
  for (const char* shell : {"/bin/sh", "/bin/dash", "/bin/zsh", "/usr/bin/fish", "/bin/ash"}) {
    shell_ = shell;
    Warm({"true"});
    Warm({"true"});
  }
  EXPECT_EQ(guest_->started, 0);
  shell_ = "";  // the guest's own
  Warm({"true"});
  EXPECT_EQ(ColdStarts([&] { Compare(Eval("echo $0 $SHELL")); }), 1);
}

TEST_F(WarmShells, FallBackWhereBashIsMissing) {
  shell_ = Path("missing") / "bash";
  Warm({"true"});
  Compare({"true"});
}

TEST_F(WarmShells, NoticeThatTheirDirectoryIsNotTheSame) {
  Warm({"true"});
  std::filesystem::rename(work_, work_ + ".old");
  EXPECT_THAT(Warm({"pwd"})["stderr"], HasSubstr("No such file or directory"));
  std::filesystem::rename(work_ + ".old", work_);
  Warm({"true"});
  std::filesystem::rename(work_, work_ + ".old");
  std::filesystem::create_directories(work_);
  Write(work_ + "/new", "");
  EXPECT_EQ(Warm({"ls"})["stdout"], "new\n");
}

TEST_F(WarmShells, AreThrownAwayWhenTheyAreOld) {
  tools::WarmShells shells({true, 0ms, {}});
  const tools::WarmShells::Place place{guest_.get(), work_, shell_};
  { const tools::WarmShells::Use use(shells, place); }
  EXPECT_EQ(guest_->started, 1);
  tools::WarmShells::Use use(shells, place);
  EXPECT_EQ(use.Take({}), nullptr);
}

TEST_F(WarmShells, AreAsManyAsCommandsRunBesideEachOtherAndTwoAtMost) {
  tools::WarmShells shells({true, 5min, {}});
  const tools::WarmShells::Place place{guest_.get(), work_, shell_};
  tools::WarmShells::Use first(shells, place);
  {
    const tools::WarmShells::Use second(shells, place);
    { const tools::WarmShells::Use third(shells, place); }
    EXPECT_EQ(guest_->started, 0) << "commands that run need the channels themselves";
  }
  EXPECT_EQ(guest_->started, 2);
  EXPECT_NE(first.Take({}), nullptr);
  EXPECT_NE(first.Take({}), nullptr);
  EXPECT_EQ(first.Take({}), nullptr);
}

TEST_F(WarmShells, CostNoProcessorTimeWhileTheyWait) {
  Warm({"true"});
  // Where anything polled, no two looks would ever be alike.
  const auto is_quiet = [&] {
    const long before = ContextSwitchesInGuest();
    std::this_thread::sleep_for(1500ms);  // between the two looks
    return ContextSwitchesInGuest() == before;
  };
  EXPECT_TRUE(Happens(is_quiet));
  EXPECT_EQ(ColdStarts([&] { Warm({"true"}); }), 0) << "a shell was waiting";
}

TEST_F(WarmShells, WaitForTheSamePlaceOnly) {
  tools::WarmShells shells({true, 5min, {}});
  { const tools::WarmShells::Use use(shells, {guest_.get(), work_, shell_}); }
  tools::WarmShells::Use elsewhere(shells, {guest_.get(), "/", shell_});
  EXPECT_EQ(elsewhere.Take({}), nullptr);
  tools::WarmShells::Use other_shell(shells, {guest_.get(), work_, ""});
  EXPECT_EQ(other_shell.Take({}), nullptr);
  tools::WarmShells::Use same(shells, {guest_.get(), work_, shell_});
  EXPECT_NE(same.Take({}), nullptr);
  EXPECT_EQ(same.Take({}), nullptr);
}

TEST_F(WarmShells, AreNotStartedWhenSwitchedOff) {
  Cold({"true"});
  Cold({"true"});
  EXPECT_EQ(guest_->started, 0);
}

TEST_F(WarmShells, LetBackgroundChildrenLiveWithoutTheirOutputAndChannel) {
  Start({"MaxSessions 4"});
  Warm({"true"});
  for (int i = 0; i < 6; ++i) {
    const std::string go = "go" + std::to_string(i);
    const nlohmann::json result =
        Warm(Bash("mkfifo " + go + "; (read -r x <" + go + "; seq 100000; seq 100000 >&2; touch " +
                  go + ".done) & echo started"));
    EXPECT_EQ(result["stdout"], "started\n");
    EXPECT_EQ(result["stderr"], "");
  }
  for (int i = 0; i < 6; ++i) {
    const std::string go = work_ + "/go" + std::to_string(i);
    std::ofstream(go) << "go\n";
    EXPECT_TRUE(Happens([&] { return std::filesystem::exists(go + ".done"); }));
  }
}

TEST_F(WarmShells, EndWhatTakesTooLongAndKeepItsOutput) {
  options_.command_timeout = 3s;
  Restart();
  Warm({"true"});
  const int cold = ColdStarts([&] {
    const nlohmann::json result = Warm(Bash(kStubborn));
    EXPECT_EQ(result["stdout"], "before\n");
    EXPECT_EQ(result["stderr"], "before2\n");
    EXPECT_EQ(result["error"], "timed out after 3s; its processes have been ended");
    EXPECT_FALSE(result.contains("exit_code"));
  });
  EXPECT_EQ(cold, 1) << "the question whether the process group is gone";
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(WarmShells, EndACancelledCommand) {
  Warm({"true"});
  support::StopSource source;
  std::thread stopper([&] {
    Happens([&] { return std::filesystem::exists(work_ + "/ready"); });
    source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW(Warm(Bash(kStubborn), source.context()), support::Stopped);
  stopper.join();
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(WarmShells, LeaveNothingBehindWhenTheLineBreaksUnderACommand) {
  Warm({"true"});
  std::thread breaker([&] {
    Happens([&] { return std::filesystem::exists(work_ + "/ready"); });
    for (const pid_t pid : instance_->SessionPids()) kill(pid, SIGKILL);
  });
  const int cold = ColdStarts([&] {
    const nlohmann::json result = Warm(Bash(std::string("echo x >>runs; ") + kStubborn));
    EXPECT_THAT(result["error"], HasSubstr("may have run"));
    EXPECT_EQ(result["stdout"], "before\n");
  });
  breaker.join();
  EXPECT_EQ(cold, 0) << "it must not be repeated";
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
  EXPECT_EQ(std::filesystem::file_size(work_ + "/runs"), 2U);
}

TEST_F(WarmShells, EndWhileTheyWaitWhenTheLineBreaks) {
  WriteProfile("echo $$ >" + work_ + "/waiting");
  Warm({"true"});
  Warm(Bash("rm waiting"));
  ASSERT_TRUE(Happens([&] { return FileSize(work_ + "/waiting") > 0; }));
  for (const pid_t pid : instance_->SessionPids()) kill(pid, SIGKILL);
  EXPECT_TRUE(EndsSoon("waiting"));
}

TEST_F(WarmShells, EndWhenTheyAreNotNeededAnyMore) {
  WriteProfile("echo $$ >" + work_ + "/waiting");
  Warm({"true"});
  Warm(Bash("rm waiting"));
  ASSERT_TRUE(Happens([&] { return FileSize(work_ + "/waiting") > 0; }));
  warm_.reset();
  EXPECT_TRUE(EndsSoon("waiting"));
}

TEST_F(WarmShells, AreReplacedByAColdStartWhenTheyDie) {
  WriteProfile("echo $$ >" + work_ + "/waiting");
  Warm({"true"});
  Warm(Bash("rm waiting"));
  ASSERT_TRUE(Happens([&] { return FileSize(work_ + "/waiting") > 0; }));
  pid_t waiting = 0;
  std::ifstream(work_ + "/waiting") >> waiting;
  kill(waiting, SIGKILL);
  EXPECT_TRUE(EndsSoon("waiting"));
  const nlohmann::json first = Warm({"echo", "x"});
  // sshd may not have told of the death yet: then it was this command's login shell that was
  // killed.
  if (first["stdout"] != "x\n") {
    EXPECT_EQ(first["error"], "signal: KILL");
  }
  EXPECT_EQ(Warm({"echo", "x"})["stdout"], "x\n");
}

TEST_F(WarmShells, GiveWayWhereChannelsAreFew) {
  for (const char* sessions : {"MaxSessions 1", "MaxSessions 2"}) {
    SCOPED_TRACE(sessions);
    Start({sessions});
    const auto deadline = support::Context().WithTimeout(60s);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(Warm({"echo", "x"}, deadline)["stdout"], "x\n");
      EXPECT_EQ(guest_->Stat("/", deadline).type, guest::FileType::kDirectory);
      EXPECT_EQ(Cold({"echo", "y"})["stdout"], "y\n");
    }
  }
}

TEST_F(WarmShells, GiveWayToAsManyCommandsAsThereAreChannels) {
  Warm({"true"});
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 30; ++i) {
    threads.emplace_back([&] {
      if (Warm({"echo", "x"})["stdout"] == "x\n") ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 30);
}

}  // namespace
