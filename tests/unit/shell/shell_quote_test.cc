#include "shell/shell_quote.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace shell {
namespace {

/// The output of /bin/sh for a script.
std::string OutputOfShell(const std::string& script) {
  const std::string line = "exec /bin/sh -c " + ShellQuote(script);
  FILE* pipe = popen(line.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  EXPECT_EQ(pclose(pipe), 0);
  return output;
}

TEST(ShellQuote, LeavesHarmlessWordsAsTheyAre) {
  EXPECT_EQ(ShellQuote("/usr/bin/x-1.2_3@h:%+=,"), "/usr/bin/x-1.2_3@h:%+=,");
}

TEST(ShellQuote, WritesAnEmptyWordAsTwoQuotes) {
  EXPECT_EQ(ShellQuote(""), "''");
}

TEST(ShellQuote, EnclosesEverythingElseInSingleQuotes) {
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("~"), "'~'");
  EXPECT_EQ(ShellQuote("$(id)"), "'$(id)'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\"'\"'s'");
}

TEST(ShellQuote, CarriesEveryByteButNulThroughAShell) {
  std::string bytes;
  for (int value = 1; value < 256; ++value) bytes += static_cast<char>(value);
  EXPECT_EQ(OutputOfShell("printf %s " + ShellQuote(bytes)), bytes);
}

TEST(ShellQuote, CarriesEachSingleByteThroughAShell) {
  std::string script;
  std::string expected;
  for (int value = 1; value < 256; ++value) {
    const std::string byte(1, static_cast<char>(value));
    script += "printf %s " + ShellQuote(byte) + "\n";
    expected += byte;
  }
  EXPECT_EQ(OutputOfShell(script), expected);
}

TEST(ShellCommand, QuotesEachArgument) {
  EXPECT_EQ(ShellCommand({"printf", "%s\n", "a b", ""}), "printf '%s\n' 'a b' ''");
}

TEST(ShellCommand, KeepsALeadingEmptyArgumentAsTheCommand) {
  EXPECT_EQ(ShellCommand({"", "x"}), "'' x");
}

TEST(ShellCommand, KeepsLeadingAssignments) {
  EXPECT_EQ(ShellCommand({"A=1 2", "_b9=$x", "C+=y", "env", "D=3 4"}),
            "A='1 2' _b9='$x' C+=y env 'D=3 4'");
}

TEST(ShellCommand, KeepsAnAssignmentOfNothing) {
  EXPECT_EQ(ShellCommand({"A="}), "A=''");
}

TEST(ShellCommand, NeverRunsTheNameOfAnAssignment) {
  EXPECT_EQ(ShellCommand({"$(id)=x"}), "'$(id)=x'");
  EXPECT_EQ(ShellCommand({"a b=x"}), "'a b=x'");
  EXPECT_EQ(ShellCommand({"1a=x y"}), "'1a=x y'");
  EXPECT_EQ(ShellCommand({"=x y"}), "'=x y'");
  EXPECT_EQ(ShellCommand({"a;id;B=1"}), "'a;id;B=1'");
}

TEST(ShellCommand, EndsAssignmentsAtTheFirstWord) {
  EXPECT_EQ(ShellCommand({"A=1", "x", "B=a b"}), "A=1 x 'B=a b'");
}

}  // namespace
}  // namespace shell
