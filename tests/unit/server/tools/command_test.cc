// SPDX-License-Identifier: Apache-2.0
// What the words of a command alone say of it: before the guest is asked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "testing/error_of.h"
#include "tools/tools.h"

namespace tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `words` is JSON, as an agent sends it.
Command Parsed(const std::string& words) {
  return ParseCommand({{"command", nlohmann::json::parse(words)}});
}

std::string ErrorOf(const std::string& words) {
  return testing_support::ErrorOf([&] { return Parsed(words); });
}

TEST(Command, ALineAsOneWordIsRefusedWithTheFormThatRunsIt) {
  for (const auto& [words, line] : {
           std::pair(R"(["NODE_ENV=test npm test"])", R"("NODE_ENV=test npm test")"),
           {R"(["CI=1 printenv CI && echo ok"])", R"("CI=1 printenv CI && echo ok")"},
           {R"(["A=1;ls"])", R"("A=1;ls")"},
           {R"(["A=1&&ls"])", R"("A=1&&ls")"},
           {R"(["A='x y' printenv A"])", R"("A='x y' printenv A")"},
           {R"(["A=1\nls"])", R"("A=1\nls")"},
           {R"(["A=1","B=2 npm start"])", R"("A=1 B=2 npm start")"},
           {R"(["LC_ALL=C","sort in.txt | head -1"])", R"("LC_ALL=C sort in.txt | head -1")"},
           {R"(["A=x y","sort in.txt"])", R"("A='x y' sort in.txt")"},
           {R"(["sort in.txt"])", R"("sort in.txt")"},
           {R"(["ls|wc"])", R"("ls|wc")"},
           {R"(["ls;pwd"])", R"("ls;pwd")"},
           {R"(["$SHELL"])", R"("$SHELL")"},
           {R"(["~/bin/tool"])", R"("~/bin/tool")"},
           {R"(["./a.sh && ./b.sh"])", R"("./a.sh && ./b.sh")"},
           {R"(["echo one","two"])", R"("...")"},
           {R"(["ls;","pwd"])", R"("...")"},
           {R"(["|","wc"])", R"("...")"},
       }) {
    EXPECT_EQ(ErrorOf(words),
              std::string("nothing was run: command is a list of words, not a shell line; use "
                          "[\"bash\",\"-c\",") +
                  line + "], and quote in it a name with blanks");
  }
  EXPECT_THAT(ErrorOf(R"(["echo )" + std::string(1025, '0') + R"("])"), HasSubstr(R"(,"..."])"));
}

TEST(Command, AnOperatorAmongTheWordsIsRefused) {
  for (const auto& [words, sign] : {
           std::pair(R"(["ls","-l","|","head"])", "|"),
           {R"(["ls","-t","|","head"])", "|"},
           {R"(["ls","-la","&&","pwd"])", "&&"},
           {R"(["git","status","--short","|","wc","-l"])", "|"},
           {R"(["make","-j4","&&","make","test"])", "&&"},
           {R"(["make","test","|","rg","x"])", "|"},
           {R"(["true","&&","nosuch"])", "&&"},
           {R"(["docker","ps","-a","|","head"])", "|"},
           {R"(["ps","-ef","|","grep","-v","x","|","wc","-l"])", "|"},
           {R"(["ps","-e","|","sort","-t","|","-k2"])", "|"},
           {R"(["make","-s","||","echo","failed"])", "||"},
           {R"(["pytest","-s","|","tail"])", "|"},
           {R"(["false","||","{","rm","keep",";","}"])", "||"},
           {R"(["cat","f","|","while read -r l; do echo $l; done"])", "|"},
           {R"(["rm","keep",";","cd",".."])", ";"},
           {R"(["cd","/tmp","&&","ls"])", "&&"},
           {R"(["npm","run","a","&","npm","run","b"])", "&"},
           {R"(["make","|&","tee","log"])", "|&"},
           {R"(["make","2>&1"])", "2>&1"},
           {R"(["make","2>&1","|","tail","-1"])", "2>&1"},
           {R"(["make","2>/dev/null"])", "2>/dev/null"},
           {R"(["make","&>all.log"])", "&>all.log"},
           {R"(["make",">&2"])", ">&2"},
           {R"(["ls",">out.txt"])", ">out.txt"},
           {R"(["echo","a",">>log.txt"])", ">>log.txt"},
           {R"(["echo","a",">$HOME/x"])", ">$HOME/x"},
           {R"(["echo","a",">","out.txt"])", ">"},
           {R"(["echo","a","1>","out.txt"])", "1>"},
           {R"(["ls","-l",">","out.txt"])", ">"},
           {R"(["grep","-c",">","reads.fasta"])", ">"},
           {R"(["npm","test",">","out.txt"])", ">"},
           {R"(["cat","<<EOF","hi","EOF"])", "<<EOF"},
           {R"(["cat","<<'EOF'","hi","EOF"])", "<<'EOF'"},
           {R"(["cat","<<","EOF","hi","EOF"])", "<<"},
           {R"(["wc","<<<text"])", "<<<text"},
           {R"(["sort","<","in.txt"])", "<"},
           {R"(["sort","<in.txt"])", "<in.txt"},
           {R"(["sort","</dev/null"])", "</dev/null"},
           {R"x(["diff","<(sort a)","<(sort b)"])x", "<(sort a)"},
           {R"(["A=1","ls","|","wc"])", "|"},
           {R"(["ls","*.c","|","wc","-l"])", "|"},
       }) {
    EXPECT_EQ(ErrorOf(words),
              std::string("nothing was run: ") + sign +
                  " looks like shell syntax, but no shell reads these words. Use "
                  R"(["bash","-c","..."] for a shell line, and quote in it what is an argument, )"
                  "such as '|'")
        << words;
  }
  EXPECT_THAT(ErrorOf(R"(["npm","run","dev","&"])"),
              testing::EndsWith("; start_process leaves a command running"));
}

TEST(Command, RunsIfTheWordsAroundASignShowThatItIsAnArgument) {
  for (const char* words : {R"(["cut","-d","|","-f1","f"])",
                            R"(["awk","-F","|","{print $1}","f"])",
                            R"(["grep","-e","|","f"])",
                            R"(["git","grep","-e","&&","f"])",
                            R"(["sort","-t",";","-k2","f"])",
                            R"(["sort","-nt","|","f"])",
                            R"(["paste","-d","|","a.txt","./f"])",
                            R"(["column","-t","-s","|","f"])",
                            R"(["csvtool","--separator",";","f"])",
                            R"(["tr","|",","])",
                            R"(["tr","|","-"])",
                            R"(["find",".","-exec","rm","{}",";"])",
                            R"(["find",".","-exec","a","{}",";","-print"])",
                            R"(["expr","2",">","1"])",
                            R"(["test","a","<","b"])",
                            R"(["/usr/bin/[","1",">","0","]"])",
                            R"(["bash","-c","echo a | cat"])",
                            R"(["printf","%s.","|"])",
                            R"(["git","commit","-m",";"])",
                            R"(["grep","-rn","<<<<<<<","src"])",
                            R"(["grep","-n","<<<<<<< HEAD","f"])",
                            R"(["grep","<div>","f"])",
                            R"(["grep","<div","f"])",
                            R"(["grep","</div","f"])",
                            R"(["echo","<b>bold</b>"])",
                            R"(["echo","> quoted"])",
                            R"(["pip","install","x>=1",">=2"])",
                            R"(["echo","->","x"])",
                            R"(["A=x y","printenv","A"])",
                            R"(["/opt/My App/run"])",
                            R"(["../my tools/run.sh","a b"])",
                            R"(["["])"}) {
    EXPECT_EQ(ErrorOf(words), "no error") << words;
    EXPECT_EQ(Parsed(words).note, "") << words;
  }
}

TEST(Command, ThatOnlyChangesItsOwnShellGetsANote) {
  for (const char* words :
       {R"(["cd","/tmp"])", R"(["export","A=1"])", R"(["source","/dev/null"])", R"(["."," x"])",
        R"(["alias","ll=ls -l"])", R"(["A=1","cd","/tmp"])", R"(["FOO=1"])", R"(["FOO="])"}) {
    EXPECT_THAT(Parsed(words).note, StartsWith("Each call has a shell of its own")) << words;
  }
}

TEST(Command, ANameWithBlanksThatIsNotFoundWasPerhapsALine) {
  EXPECT_THAT(ShellLineHint(127, Parsed(R"(["A=1","./run.sh now"])")),
              HasSubstr(R"(["bash","-c","A=1 ./run.sh now"])"));
  EXPECT_EQ(ShellLineHint(126, Parsed(R"(["./run.sh now"])")), "");
  EXPECT_EQ(ShellLineHint(127, Parsed(R"(["./run.sh","a b"])")), "");
  EXPECT_EQ(ShellLineHint(127, Parsed(R"(["A=1"])")), "");
}

}  // namespace
}  // namespace tools
