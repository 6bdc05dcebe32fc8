// run_shell_command through the real binary and a real sshd: what a command gets and returns, in
// bounded memory.

#include <iostream>
#include <set>

#include "integration/fixture.h"
#include "testing/sanitizers.h"
#include "tools/tools.h"

namespace integration {
namespace {

class CommandTool : public IntegrationTest {
 protected:
  void SetUp() override { StartGuest(); }

  std::string RefusalOf(const Command& command) {
    return Refusal("run_shell_command", Arguments(command));
  }
};

TEST_F(CommandTool, GetsItsWordsUnchanged) {
  std::string all;
  for (int value = 1; value < 0x80; ++value) all += static_cast<char>(value);
  all += "\u0080\u00ff\u202e\uffff\U000E0001\U0010ffff";
  const std::string quotes(25'000, '\'');  // quoted, each takes five bytes
  for (const auto& [command, output] : std::vector<std::pair<Command, std::string>>{
           {{"printf", "%s", all}, all},
           {{"printf", "%s", quotes}, quotes},
           {{"printf", "<%s>", "", "-n", "--", "\n", "a\nb\n", ""}, "<><-n><--><\n><a\nb\n><>"},
           // Leading assignments, and no later ones.
           {{"A=1 2", "B=", "sh", "-c", "printf '%s|%s|%s' \"$A\" \"$B\" \"$1\"", "sh", "C=3"},
            "1 2||C=3"}}) {
    EXPECT_EQ(Run(command).value("stdout", ""), output);
  }
}

TEST_F(CommandTool, TooMuchIsRefusedAndTheSessionGoesOn) {
  for (const Command& command :
       {Command{"echo", std::string(1024 * 1024, 'x')}, Command(200'000, "word")}) {
    EXPECT_THAT(RefusalOf(command), StartsWith("argument list too long"));
    EXPECT_EQ(Run({"echo", "alive"}).value("stdout", ""), "alive\n");
  }
}

TEST_F(CommandTool, HasWordsOfTheGreatestLength) {
  const std::size_t room = tools::kMaxShellCommand - std::string("printf %s ").size();
  EXPECT_EQ(Run({"printf", "%s", std::string(room, 'x')}).value("stdout", "").size(), room);
  EXPECT_THAT(RefusalOf({"printf", "%s", std::string(room + 1, 'x')}),
              StartsWith("argument list too long"));
}

TEST_F(CommandTool, NoProcessIsLeftInTheGuestByACommand) {
  if (!fs::exists("/proc/self/fd")) {
    GTEST_SKIP() << Skipping("this machine has no /proc, which a resident login shell needs");
  }
  const auto processes = [&] {
    std::set<pid_t> ids;
    for (const auto& process : GuestProcesses(Instance())) ids.insert(process.pid);
    return ids;
  };
  Run({"true"});
  const std::set<pid_t> after_the_first = processes();
  for (int i = 0; i < 3; ++i) Run({"true"});
  EXPECT_EQ(processes(), after_the_first);
}

TEST_F(CommandTool, ReturnsThoughAChildHoldsItsPipesAndTheChildGoesOn) {
  EXPECT_EQ(Shell("mkfifo go; (read -r x <go; seq 100000 && seq 100000 >&2 && echo x >done) & "
                  "echo started")
                .value("stdout", ""),
            "started\n");
  Run({"sleep", "2.5"});  // longer than ProcessRun::kExitGrace
  Shell("echo go >go");
  EXPECT_EQ(Await("done"), "x\n");
}

TEST_F(CommandTool, ProgressIsTheLastLineAndCannotDriveATerminal) {
  const std::int64_t id = BeginShell(
      R"(until [ -e print ]; do sleep 0.1; done; printf 'first\nlast\033[2J\t\302\233\n'; )"
      "until [ -e go ]; do sleep 0.1; done",
      "token");
  while (!NextProgress("token").starts_with("running, no output yet")) {
  }
  MakeFile("root/print", "");
  std::string progress;
  while (!progress.starts_with("last")) progress = NextProgress("token");
  EXPECT_THAT(progress, StartsWith("last [2J \\xc2\\x9b"));
  MakeFile("root/go", "");
  EXPECT_EQ(End(id).value("exit_code", -1), 0);
}

class CommandOutputSize : public CommandTool {
 protected:
  static constexpr std::size_t kKept = std::size_t{256} * 1024;
  /// Far below what is printed, far above what is kept. AddressSanitizer keeps freed memory
  /// (quarantine_size_mb, 256).
  static constexpr long kMaxKilobytes = testing_support::kAddressSanitizer ? 700'000 : 200'000;
  static constexpr long kFarMore = 2 * 1024 * kMaxKilobytes;
  /// More than the longest line between the halves.
  static constexpr std::size_t kNote = 200;

  void ExpectBounded(const json& result) {
    EXPECT_LE(result.value("stdout", "").size(), kKept + kNote);
    EXPECT_THAT(result.value("stdout", ""), HasSubstr(" bytes left out"));
    const long most = StatusOf(client().process().pid(), "VmHWM");
    EXPECT_LE(most, kMaxKilobytes);
    std::cout << "resident at most " << most << " kB\n";
  }
  json RunLong(const std::string& script) {
    // Half a minute under ThreadSanitizer on an idle machine.
    constexpr std::chrono::minutes kPatience{4};
    return client().EndCall(BeginShell(script), kPatience).at("structuredContent");
  }
};

TEST_F(CommandOutputSize, FarMoreThanTheMemory) {
  const json result =
      RunLong("yes 0123456789abcdef | head -c " + std::to_string(kFarMore) + "; echo; echo end");
  EXPECT_THAT(result.value("stdout", ""), StartsWith("0123456789abcdef\n"));
  EXPECT_TRUE(result.value("stdout", "").ends_with("end\n"));
  ExpectBounded(result);
}

TEST_F(CommandOutputSize, ALineOfAHundredMebibytes) {
  const json result = RunLong("printf begin; head -c 104857600 /dev/zero | tr '\\0' x; printf end");
  EXPECT_THAT(result.value("stdout", ""), StartsWith("beginx"));
  EXPECT_TRUE(result.value("stdout", "").ends_with("xend"));
  ExpectBounded(result);
}

}  // namespace
}  // namespace integration
