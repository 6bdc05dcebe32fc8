#include "shell/shell_quote.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

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

TEST(ShellQuote, QuotesWhatAShellWouldChange) {
  for (const auto& [word, quoted] : std::vector<std::pair<std::string, std::string>>{
           {"/usr/bin/x-1.2_3@h:%+=,", "/usr/bin/x-1.2_3@h:%+=,"},
           {"", "''"},
           {"a b", "'a b'"},
           {"~", "'~'"},
           {"$(id)", "'$(id)'"},
           {"it's", "'it'\"'\"'s'"}}) {
    EXPECT_EQ(ShellQuote(word), quoted);
  }
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

TEST(ShellCommand, QuotesTheArgumentsAndKeepsLeadingAssignments) {
  using Case = std::pair<std::vector<std::string>, std::string>;
  for (const auto& [arguments, command] : std::vector<Case>{
           {{"printf", "%s\n", "a b", ""}, "printf '%s\n' 'a b' ''"},
           {{"", "x"}, "'' x"},
           {{"A=1 2", "_b9=$x", "C+=y", "env", "D=3 4"}, "A='1 2' _b9='$x' C+=y env 'D=3 4'"},
           {{"A="}, "A=''"},
           {{"A=1", "x", "B=a b"}, "A=1 x 'B=a b'"}}) {
    EXPECT_EQ(ShellCommand(arguments), command);
  }
}

TEST(ShellCommand, NeverRunsTheNameOfAnAssignment) {
  for (const char* argument : {"$(id)=x", "a b=x", "1a=x y", "=x y", "a;id;B=1"}) {
    EXPECT_EQ(ShellCommand({argument}), "'" + std::string(argument) + "'");
  }
}

}  // namespace
}  // namespace shell
