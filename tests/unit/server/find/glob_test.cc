// SPDX-License-Identifier: Apache-2.0
// The patterns, and the listings that are planned for them.

#include "find/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/errors.h"
#include "testing/error_of.h"
#include "testing/sanitizers.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A path that ends with '/' is a directory.
bool Matches(const std::string& pattern, std::string path, bool case_sensitive = true) {
  const bool is_directory = path.ends_with('/');
  if (is_directory) path.pop_back();
  return GlobMatcher(ParseGlob(pattern), case_sensitive).Matches(path, is_directory);
}

std::string ErrorOf(const std::string& pattern) {
  try {
    ParseGlob(pattern);
  } catch (const support::Error& error) {
    return error.what();
  }
  return "no error";
}

std::string Repeat(const std::string& text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

// tests/clients compares the same table with npm's minimatch. The table explains differences.
TEST(Glob, AgreesWithTheTable) {
  const nlohmann::json table = nlohmann::json::parse(std::ifstream(GLOB_TABLE_FILE));
  std::size_t pairs = 0;
  for (const nlohmann::json& row : table) {
    const auto pattern = row.at("pattern").get<std::string>();
    for (const std::string path : row.at("matches")) {
      EXPECT_TRUE(Matches(pattern, path)) << pattern << " should match " << path;
      ++pairs;
    }
    for (const std::string path : row.at("others")) {
      EXPECT_FALSE(Matches(pattern, path)) << pattern << " should not match " << path;
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 150U);
}

TEST(Glob, IgnoresCaseOnlyIfRequested) {
  EXPECT_FALSE(Matches("*.TXT", "a.txt"));
  EXPECT_TRUE(Matches("*.TXT", "a.txt", false));
  EXPECT_TRUE(Matches("Ä[A-C]", "äb", false));
  EXPECT_FALSE(Matches("[!A-C]", "b", false));
  EXPECT_TRUE(Matches("[a-c]*", "BÖ", false));
  EXPECT_TRUE(Matches("ÉТΩ.TXT", "éтω.txt", false));
  EXPECT_TRUE(Matches("**/.GIT/config", ".git/config", false));
  EXPECT_FALSE(Matches("**/CONFIG", ".git/config", false));
}

TEST(Glob, AnyDepthMatchesWhatGitIgnoresOnlyBelowItsName) {
  const GlobMatcher matcher(ParseGlob("{*.log,**/*.txt,build/**}"), true);
  EXPECT_TRUE(matcher.Matches("a.log", false, 1));
  EXPECT_TRUE(matcher.Matches("a.txt", false));
  EXPECT_FALSE(matcher.Matches("a.txt", false, 1));
  EXPECT_FALSE(matcher.Matches("b/a.log", false));
  EXPECT_TRUE(matcher.Matches("build/a.o", false, 1));
  EXPECT_FALSE(matcher.Matches("build/a.o", false, 2));
}

TEST(Glob, AHundredStarsTakeBoundedTime) {
  const GlobMatcher matcher(ParseGlob(Repeat("a*", 100) + "b"), true);
  EXPECT_FALSE(matcher.Matches(std::string(200, 'a'), false));
  EXPECT_TRUE(matcher.Matches(std::string(200, 'a') + "b", false));
  const GlobMatcher any_depth(ParseGlob(Repeat("**/a/", 100) + "b"), true);
  const std::string path = Repeat("a/", 1000);
  EXPECT_FALSE(any_depth.Matches(path + "c", false));
  EXPECT_TRUE(any_depth.Matches(path + "b", false));
}

TEST(Glob, TakesTheLargestPattern) {
  const std::string pattern = "{" + Repeat("a,", 999) + "b}" + Repeat("?", 5);
  ASSERT_EQ(ParseGlob(pattern).size(), kMaxGlobAlternatives);
  EXPECT_TRUE(Matches(pattern, "b12345"));
  EXPECT_THAT(ErrorOf(pattern + "?"), HasSubstr("24576 bytes"));
}

TEST(Glob, RejectsBadPatternsAndSaysWhy) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"a[b", "Bad pattern \"a[b\": '[' without ']'"},
      {"a/[b/c]", "'[' without ']'"},
      {"[]", "'[' without ']'"},
      {"[!", "'[' without ']'"},
      {"[a-", "'[' without ']'"},
      {"[a\\", "'[' without ']'"},
      {"äö日[b", "\"äö日[b\": '[' without"},
      {"ab{c,d", "'{' without '}'"},
      {"{a,{b,c}", "'{' without '}'"},
      {"file{1..3}", "ranges in braces"},
      {"a\\", "'\\' with nothing after it"},
      {"a\\/b", "'/' separates names"},
      {std::string("a\0b", 3), "a NUL character"},
      {"", "it names nothing"},
      {"./", "it names nothing"},
      {"//", "it names nothing"},
      {"{,a}", "it names nothing"},
      {"../x", "'..' cannot leave the directory"},
      {"a/../b", "'..'"},
      {"**/..", "'..'"},
      {"\\.\\./x", "'..'"},
      {"{a,..}/x", "'..'"},
      {".{.,x}/a", "'..'"},
      {"..foo/...", "no error"},
  };
  for (const auto& [pattern, error] : cases) EXPECT_THAT(ErrorOf(pattern), HasSubstr(error));
}

TEST(Glob, SyntaxThatIsNotSupportedIsExplainedIfNothingMatches) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"src/!(*.test).ts", "does not exclude"},
      {"src/*.+(ts|js)", "write {a,b}"},
      {"*.@(ts|tsx)", "write {a,b}"},
      {"?(a).c", "write {a,b}"},
      {"src/*.ts,lib/*.js", "do not separate"},
      {"*.ts, *.js", "do not separate"},
      {"a.ts;b.ts", "do not separate"},
      {"a,b", "do not separate"},
      {"*.ts *.tsx", "do not separate"},
      {"*.ts,!*.test.ts", "do not separate"},
      {"{a,b}.ts,{c,d}.ts", "do not separate"},
      {"!*.test.ts", "does not exclude"},
      {"~/src/*.ts", "absolute path"},
      {"~", "absolute path"},
      {"src/{a,{b,c}}/*.{ts,tsx}", ""},
      {"[ab].c", "one character of a set"},
      {"x/[z-a]", "one character of a set"},
      {"x[[:digit:]]", "one character of a set"},
      {"a\\[b\\]", ""},
      {"*.{ts}", "one member"},
      {"src/{a,{b}}/c", "one member"},
      {"[,;|]", "one character of a set"},
      {"a (b).txt", ""},
      {"a~b", ""},
      {"x!", ""},
      {"a; touch x", ""},
  };
  for (const auto& [pattern, hint] : cases) {
    EXPECT_THAT(HintIfUnmatched(pattern), HasSubstr(hint)) << pattern;
    EXPECT_EQ(HintIfUnmatched(pattern).empty(), *hint == '\0') << pattern;
  }
}

TEST(Glob, BracesThatMultiplyAreRejected) {
  EXPECT_THAT(ErrorOf(Repeat("{a,b}", 40)), HasSubstr("more than 1000 alternatives"));
  EXPECT_THAT(ErrorOf(Repeat("{a,", 30) + "b" + Repeat("}", 30) + Repeat("{c,d}", 6)),
              HasSubstr("more than 1000 alternatives"));
  const std::string thousand = "{1,2,3,4,5,6,7,8,9,0}";
  EXPECT_EQ(ParseGlob(Repeat(thousand, 3)).size(), kMaxGlobAlternatives);
  EXPECT_THAT(ErrorOf(Repeat(thousand, 3) + "{a,b}"), HasSubstr("more than 1000"));
  EXPECT_EQ(ErrorOf(Repeat("x", 21) + Repeat(thousand, 3)), "no error");
  EXPECT_THAT(ErrorOf(Repeat("x", 22) + Repeat(thousand, 3)), HasSubstr("24576 bytes"));
  EXPECT_EQ(ErrorOf(Repeat(thousand, 3) + Repeat("x", 21)), "no error");
  EXPECT_THAT(ErrorOf(Repeat(thousand, 3) + Repeat("x", 22)), HasSubstr("24576 bytes"));
  EXPECT_THAT(ErrorOf("{" + Repeat(thousand, 3) + ",a}"), HasSubstr("more than 1000"));
}

TEST(Glob, NestedBracesAndLengthHaveLimits) {
  const auto nested = [](std::size_t depth) {
    return Repeat("{", depth) + "a,b" + Repeat("}", depth);
  };
  EXPECT_EQ(ErrorOf(nested(kMaxGlobBraceDepth)), "no error");
  EXPECT_THAT(ErrorOf(nested(kMaxGlobBraceDepth + 1)), HasSubstr("nested more than 32"));
  EXPECT_THAT(ErrorOf(Repeat("{", 4000)), HasSubstr("nested more than 32"));
  EXPECT_EQ(ErrorOf(std::string(kMaxGlobPattern, 'x')), "no error");
  EXPECT_THAT(ErrorOf(std::string(kMaxGlobPattern + 1, 'x')),
              HasSubstr("4097 bytes, more than the 4096 allowed"));
}

std::vector<std::string> Directories(const std::string& pattern, bool case_sensitive = true) {
  std::vector<std::string> directories;
  for (const GlobWalk& walk : PlanGlob(pattern, case_sensitive)) {
    directories.push_back(walk.directory);
  }
  return directories;
}

TEST(GlobPlan, NamesBeforeTheFirstWildcardNarrowTheDirectory) {
  EXPECT_THAT(Directories("*.c"), ElementsAre(""));
  EXPECT_THAT(Directories("a.c"), ElementsAre(""));
  EXPECT_THAT(Directories("src/lib/*.c"), ElementsAre("src/lib"));
  EXPECT_THAT(Directories("./src//a.c"), ElementsAre("src"));
  EXPECT_THAT(Directories("a\\*b/x*/c"), ElementsAre("a*b"));
  EXPECT_THAT(Directories("**/a/b"), ElementsAre(""));
  EXPECT_THAT(Directories("/etc/*"), ElementsAre("/etc"));
  EXPECT_THAT(Directories("/*"), ElementsAre("/"));
  EXPECT_THAT(Directories("{src,test}/**/*.c"), ElementsAre("src", "test"));
  EXPECT_THAT(Directories("src/{a,b}/c"), ElementsAre("src/a", "src/b"));
  // Not if case is ignored.
  EXPECT_THAT(Directories("src/*.c", false), ElementsAre(""));
  EXPECT_THAT(Directories("/Users/me/*.c", false), ElementsAre("/Users/me"));
}

TEST(GlobPlan, ManyBeginningsAreListedFromHigherUp) {
  std::string choices;
  for (std::size_t i = 0; i < kMaxGlobWalks; ++i) {
    choices += (i > 0 ? "," : "") + ("d" + std::to_string(i));
  }
  EXPECT_THAT(PlanGlob("x/{" + choices + "}/*.c", true), SizeIs(kMaxGlobWalks));
  EXPECT_THAT(Directories("x/{" + choices + ",more}/*.c"), ElementsAre("x"));
}

TEST(GlobPlan, DepthIsLimitedWithoutAnyDepth) {
  EXPECT_EQ(PlanGlob("a/*/*.c", true)[0].listing.maximum_depth, 2U);
  EXPECT_EQ(PlanGlob("{*,*/*/*}", true)[0].listing.maximum_depth, 3U);
  EXPECT_EQ(PlanGlob("{*,**/x}", true)[0].listing.maximum_depth, std::nullopt);
}

TEST(GlobPlan, GitIsEnteredOnlyIfAPatternCanMatchThere) {
  EXPECT_FALSE(PlanGlob("**/*.c", true)[0].listing.enters_git);
  EXPECT_TRUE(PlanGlob("**/.git/config", true)[0].listing.enters_git);
  EXPECT_TRUE(PlanGlob("*/config", true)[0].listing.enters_git);
  EXPECT_FALSE(PlanGlob(".git/**", true)[0].listing.enters_git) << "the walk starts inside";
}

TEST(GlobPlan, NameFiltersLetThroughAtLeastWhatMatches) {
  const auto filters = [](const std::string& pattern, bool case_sensitive = true) {
    return PlanGlob(pattern, case_sensitive)[0].listing.name_filters;
  };
  EXPECT_THAT(filters("**/*.{c,h}"), ElementsAre("*.c", "*.h"));
  EXPECT_THAT(filters("{**/*.c,**}"), IsEmpty());
  EXPECT_THAT(filters("**/*.c", false), IsEmpty());
  EXPECT_THAT(filters("x?[ab]*y"), ElementsAre("x*y"));
  EXPECT_THAT(filters("\\*\\[a\\\\"), ElementsAre("\\*\\[a\\\\"));
  EXPECT_THAT(filters("\xEF\xBF\xBD.txt"), ElementsAre("*.txt"));
  EXPECT_THAT(filters("日"), ElementsAre("日"));
}

// A sanitizer makes RE2 more than ten times slower, and a build that is not optimised this program.
constexpr std::clock_t kMaxPlanning =
    testing_support::kSlowBuild ? CLOCKS_PER_SEC : CLOCKS_PER_SEC / 20;

/// CPU time, which other programs on the machine lengthen: the least of several.
std::clock_t PlanningTime(const std::string& pattern, bool case_sensitive) {
  std::clock_t least = CLOCKS_PER_SEC;
  for (int tries = 5; tries > 0 && least >= kMaxPlanning; --tries) {
    const std::clock_t start = std::clock();
    try {
      PlanGlob(pattern, case_sensitive);
    } catch (const support::Error&) {
      // It is refused.
    }
    least = std::min(least, std::clock() - start);
  }
  return least;
}

TEST(GlobPlan, HostilePatternsAreRefusedOrPlannedIn50Milliseconds) {
  const std::string ten = "{a,b,c,d,e,f,g,h,i,j}";
  for (const std::string& pattern :
       {"{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}" + Repeat("/x", 1900) + "/*",
        "{a,b,c,d,e,f,g,h}" + Repeat("/x", 1900) + "/*",
        Repeat("/x", 600) + "{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}/*", Repeat("a*", 2000),
        Repeat("*?", 2000), Repeat("?", 4096), Repeat("**/a/", 800) + "b", Repeat("[!a]", 1000),
        Repeat("[ -\U0010FFFF]", 500), Repeat("{a", 32) + Repeat(",b}", 32), Repeat("{a,b}", 800),
        Repeat("{a,", 30) + "b" + Repeat("}", 30) + Repeat("{c,d}", 6), ten + Repeat("?x", 600),
        ten + ten + ten + "/" + Repeat("?", 6), ten + ten + ten + Repeat("x", 29),
        "{" + Repeat("a,", 2000) + "}", "{a,b,c,d,e,f,g}" + Repeat("{x}", 1300)}) {
    for (const bool case_sensitive : {true, false}) {
      EXPECT_LT(PlanningTime(pattern, case_sensitive), kMaxPlanning) << pattern;
    }
  }
}

}  // namespace
}  // namespace find
