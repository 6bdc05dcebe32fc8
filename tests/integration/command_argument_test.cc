// The words of a command arrive unchanged, or the call fails with the reason.

#include <gmock/gmock.h>

#include <string>

#include "integration/command_fixture.h"
#include "tools/command_arguments.h"

namespace integration {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

class CommandArgument : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    StartGuest();
  }
  std::string RefusalOf(const std::vector<std::string>& command) {
    return Refusal("run_shell_command", Arguments(command));
  }
};

TEST_F(CommandArgument, OfEveryCharacter) {
  std::string all;
  for (int value = 1; value < 0x80; ++value) all += static_cast<char>(value);
  all += "\u0080\u00ff\u202e\uffff\U000E0001\U0010ffff";
  EXPECT_EQ(Run({"printf", "%s", all}).value("stdout", ""), all);
}

TEST_F(CommandArgument, EmptyWordsLeadingDashesAndLineEnds) {
  EXPECT_EQ(Run({"printf", "<%s>", "", "-n", "--", "\n", "a\nb\n", ""}).value("stdout", ""),
            "<><-n><--><\n><a\nb\n><>");
}

TEST_F(CommandArgument, LeadingAssignmentsAndNoLaterOnes) {
  EXPECT_EQ(Run({"A=1 2", "B=", "sh", "-c", "printf '%s|%s|%s' \"$A\" \"$B\" \"$1\"", "sh", "C=3"})
                .value("stdout", ""),
            "1 2||C=3");
}

TEST_F(CommandArgument, TooMuchIsRefusedAndTheSessionGoesOn) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"echo", std::string(1024 * 1024, 'x')},
        std::vector<std::string>(200'000, "word")}) {
    EXPECT_THAT(RefusalOf(command), StartsWith("argument list too long"));
    EXPECT_EQ(Run({"echo", "alive"}).value("stdout", ""), "alive\n");
  }
}

TEST_F(CommandArgument, OfTheGreatestLength) {
  const std::size_t room = tools::kMaxShellCommand - std::string("printf %s ").size();
  EXPECT_EQ(Run({"printf", "%s", std::string(room, 'x')}).value("stdout", "").size(), room);
  EXPECT_THAT(RefusalOf({"printf", "%s", std::string(room + 1, 'x')}),
              StartsWith("argument list too long"));
  // Quoted, each of these takes five bytes.
  const std::string quotes(25'000, '\'');
  EXPECT_EQ(Run({"printf", "%s", quotes}).value("stdout", ""), quotes);
}

TEST_F(CommandArgument, AMissingDirectoryIsReportedByTheShell) {
  const json result =
      Call("run_shell_command", {{"command", {"true"}}, {"directory", root + "/it's gone"}});
  EXPECT_EQ(result.value("exit_code", -1), 1);
  EXPECT_THAT(result.value("stderr", ""),
              ::testing::EndsWith(": cd: " + root + "/it's gone: No such file or directory\n"));
}

TEST_F(CommandArgument, ASignalIsNamedWithTheStatusThatAShellReports) {
  for (const auto& [signal, status] : {std::pair("KILL", 137), std::pair("BUS", 135)}) {
    const json ended = Shell(std::string("kill -") + signal + " $$");
    EXPECT_EQ(ended.value("error", ""), std::string("signal: ") + signal);
    EXPECT_EQ(ended.value("exit_code", -1), status);
  }
  // A shell reports both in the same way.
  EXPECT_EQ(Shell("exit 137").value("error", ""), "signal: KILL");
}

}  // namespace
}  // namespace integration
