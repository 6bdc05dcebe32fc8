// run_shell_command through the real binary and a real sshd: what a command gets and returns, in
// bounded memory.

#include <gmock/gmock.h>

#include <chrono>
#include <iostream>
#include <set>

#include "integration/command_fixture.h"
#include "testing/guest_processes.h"
#include "testing/sanitizers.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandTool : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    StartGuest();
  }
  /// A resident login shell needs /proc.
  static bool HasResidentShells() { return fs::exists("/proc/self/fd"); }
};

TEST_F(CommandTool, HasNoTerminalAndNoInput) {
  EXPECT_EQ(Run({"cat"}).value("stdout", "?"), "");
  EXPECT_EQ(Run({"sh", "-c", "test -t 1 || test -t 0 || echo none"}).value("stdout", ""), "none\n");
}

TEST_F(CommandTool, CommandsShareALoginShell) {
  if (!HasResidentShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  WriteProfiles({".bash_profile"}, "echo login >>'" + Path("logins").string() + "'\n");
  Run({"true"});
  Run({"true"});
  MakeDirectory("root/other");
  Call("run_shell_command", {{"command", {"true"}}, {"directory", root + "/other"}});
  EXPECT_EQ(ReadFile(Path("logins")), "login\n");
}

TEST_F(CommandTool, NoProcessIsLeftInTheGuestByACommand) {
  if (!HasResidentShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  const auto processes = [&] {
    std::set<pid_t> ids;
    for (const auto& process : testing_support::GuestProcesses(Instance())) ids.insert(process.pid);
    return ids;
  };
  Run({"true"});
  const std::set<pid_t> after_the_first = processes();
  for (int i = 0; i < 3; ++i) Run({"true"});
  EXPECT_EQ(processes(), after_the_first);
}

TEST_F(CommandTool, ReadsAChangedProfile) {
  if (!HasResidentShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  WriteProfiles({".profile"}, "export EDITED=1\n");
  const std::string home = (Instance().directory() / "guest-home").string();
  Serve({.arguments = {"default", "--allow-path", home + ":w"}});
  const std::vector<std::string> print = {"printenv", "EDITED"};
  EXPECT_EQ(Run(print).value("stdout", ""), "1\n");
  Write(home + "/.profile", "export EDITED=2\n");
  EXPECT_EQ(Run(print).value("stdout", ""), "2\n");
  Write(home + "/.bash_profile", "export EDITED=3\n");  // takes precedence in bash
  EXPECT_EQ(Run(print).value("stdout", ""), "3\n");
  fs::remove(home + "/.bash_profile");
  EXPECT_EQ(Run(print).value("stdout", ""), "2\n");
}

TEST_F(CommandTool, OneWordWithSpacesIsExplained) {
  const json result = Run({"echo one two"});
  EXPECT_EQ(result.value("exit_code", -1), 127);
  EXPECT_THAT(result.value("error", ""),
              AllOf(HasSubstr("exit status 127"), HasSubstr("bash"), HasSubstr("-c")));
}

TEST_F(CommandTool, TheDescriptionNeverReachesAShell) {
  Call("run_shell_command", {{"command", {"true"}},
                             {"directory", root},
                             {"description", "harmless\ntouch pwned\n$(touch pwned)"}});
  EXPECT_FALSE(fs::exists(Path("root/pwned")));
}

using CommandOutputBytes = CommandTool;

TEST_F(CommandOutputBytes, AreReturnedAsValidText) {
  struct Case {
    const char* printed;  ///< format for printf(1)
    std::string expected;
  };
  const std::vector<Case> cases = {
      {R"(\033[2Jx)", "\x1b[2Jx"},
      {R"(\033]0;title\007x)", "\x1b]0;title\x07x"},
      {R"(\033]8;;http://a\033\\x\033]8;;\033\\)", "\x1b]8;;http://a\x1b\\x\x1b]8;;\x1b\\"},
      {R"(\342\200\252\342\200\256)", "\u202a\u202e"},                  // bidirectional overrides
      {R"(\342\201\246\342\201\251)", "\u2066\u2069"},                  // and isolates
      {R"(\363\240\200\200\363\240\201\277)", "\U000E0000\U000E007F"},  // tags
      {R"(a\377\300\200b\355\240\200)",
       "a\uFFFD\uFFFD\uFFFD"
       "b\uFFFD\uFFFD\uFFFD"},
      {R"(a\000b)", std::string("a\0b", 3)}};
  for (const Case& c : cases) {
    const std::string print = "printf '" + std::string(c.printed) + "'";
    const json result = Shell(print + "; " + print + " >&2");
    EXPECT_EQ(result.value("stdout", "?"), c.expected) << c.printed;
    EXPECT_EQ(result.value("stderr", "?"), c.expected) << c.printed;
    EXPECT_EQ(result.value("exit_code", -1), 0);
  }
}

class CommandOutputSize : public CommandTool {
 protected:
  static constexpr std::size_t kKept = std::size_t{256} * 1024;
  /// Far below what is printed, far above what is kept. AddressSanitizer keeps freed memory
  /// (quarantine_size_mb, 256).
  static constexpr long kMaximumKilobytes = testing_support::kAddressSanitizer ? 700'000 : 200'000;
  /// More than the longest line between the halves.
  static constexpr std::size_t kNote = 200;

  void ExpectBounded(const json& result) {
    EXPECT_LE(result.value("stdout", "").size(), kKept + kNote);
    EXPECT_THAT(result.value("stdout", ""), HasSubstr(" bytes left out"));
    const long most = StatusOf(client().process().pid(), "VmHWM");
    EXPECT_LE(most, kMaximumKilobytes);
    std::cout << "resident at most " << most << " kB\n";
  }
  json RunLong(const std::string& script) {
    // Half a minute under ThreadSanitizer on an idle machine.
    constexpr std::chrono::minutes kPatience{4};
    const json response = client().WaitForResponse(BeginShell(script), kPatience);
    return response.at("result").at("structuredContent");
  }
};

TEST_F(CommandOutputSize, OneGibibyte) {
  const json result = RunLong("yes 0123456789abcdef | head -c 1073741824; echo end");
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
