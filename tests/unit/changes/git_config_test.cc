#include "changes/git_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace changes {
namespace {

/// As `git config --list -z` prints them; "error" if it is refused.
std::string Parsed(const std::string& text) {
  const auto settings = ParseGitConfig(text);
  if (!settings) return "error";
  std::string all;
  for (const auto& [name, value] : *settings) all += name + "\n" + value + '\0';
  return all;
}

std::string ReadByGit(const std::string& file, const std::string& text) {
  testing_support::WriteFile(file, text);
  const auto git =
      testing_support::RunProcess({.arguments = {"git", "config", "--file", file, "--list", "-z"}});
  return git.exit_code == 0 ? git.output : "error";
}

/// Versions of git differ in the spaces within a value, and a name may have none.
std::string Names(const std::string& settings) {
  std::string names;
  for (std::size_t at = 0; at < settings.size(); at = settings.find('\0', at) + 1) {
    names += settings.substr(at, settings.find_first_of(std::string("\n\0", 2), at) - at) + "\n";
    if (settings.find('\0', at) == std::string::npos) break;
  }
  return names;
}

TEST(GitConfig, IsWhatGitReads) {
  const testing_support::TemporaryDirectory directory;
  const std::vector<std::string> texts = {
      "",
      "\n# comment\n; comment\n",
      "[core]\n\tfsmonitor = /x\n",
      "[CORE]FSMonitor=/x",
      "[core] fsmonitor = /x # comment\n[core]hooksPath=y;z\n",
      "[filter \"a b\"]\nclean = x %f\n",
      "[filter \"A.\\\"b\\\\c\\d\"] clean=x\n",
      "[filter   \"x\"]\nclean = x\n",
      "[Filter.Sub]\nclean = x\n",
      "[core]\nfsmonitor = \" /x  \"  y  \n",
      "[core]\nfsmonitor = a\"b c\"d   e\t\n",
      "[core]\nfsmonitor = a \\\n  b\n",
      "[core]\nfsmonitor = a\\tb\\n\\\\\\\"c\\b\n",
      "[core]\nfsmonitor = \"a # b ; c\"\n",
      "[core]\nfsmonitor = a\\",
      "[core]\r\nfsmonitor = a\r\nhooksPath = \"b\"\r\n",
      "\xef\xbb\xbf[core]\nfsmonitor = a\n",
      "[core]\na = 1\na = 2\n[include]\npath = ../x\n",
      "[core]fsmonitor = a\n[alias]x = !y\n",
      "[a.b-1]\nc-2 = d\n",
      "[a]b=\xc3\xa9\n",
      // Errors.
      "[core\nfsmonitor = a\n",
      "[core]\nfsmonitor = \"a\n",
      "[core]\nfsmonitor = \\x\n",
      "[core]\nfsmonitor a\n",
      "[core]\n1 = a\n",
      "[core \"a\nb\"]\nc = d\n",
      "[core \"a\"b]\nc = d\n",
      "[core a]\nc = d\n",
      "[co_re]\nc = d\n",
      "[core]\n/ = x\n",
      "[core \"a",
      "[",
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(Parsed(text), ReadByGit(directory.path() / "config", text)) << text;
  }
}

TEST(GitConfig, HasTheNamesThatGitReads) {
  const testing_support::TemporaryDirectory directory;
  const std::vector<std::string> pieces = {"[", "]",  "[a]", "[a \"b\"]", "\"",     "\\", "\n",
                                           " ", "\t", "=",   "#",         ";",      "a",  "B",
                                           "1", ".",  "\r",  "-",         "x = y\n"};
  std::mt19937 random(20261125);
  for (int round = 0; round < 300; ++round) {
    std::string text = "[a]\n";
    for (std::size_t i = random() % 12; i > 0; --i) text += pieces[random() % pieces.size()];
    const std::string git = ReadByGit(directory.path() / "config", text);
    EXPECT_EQ(Names(Parsed(text)), Names(git)) << text;
  }
}

TEST(GitConfig, HasSettingsWithoutAValue) {
  EXPECT_EQ(Parsed("[core]\nfsmonitor\n"), std::string("core.fsmonitor\n\0", 16));
}

}  // namespace
}  // namespace changes
