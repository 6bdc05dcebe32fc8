// SPDX-License-Identifier: Apache-2.0
#include "shell/shell_quote.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "testing/child_process.h"

namespace shell {
namespace {

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
  std::string each_alone;
  for (int value = 1; value < 256; ++value) {
    bytes += static_cast<char>(value);
    each_alone += "printf %s " + ShellQuote(bytes.substr(bytes.size() - 1)) + "\n";
  }
  for (const std::string& script : {"printf %s " + ShellQuote(bytes), each_alone}) {
    EXPECT_EQ(testing_support::RunProcess({.arguments = {"/bin/sh", "-c", script}}).output, bytes);
  }
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
