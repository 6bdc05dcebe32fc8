#include "find/glob_plan.h"

#include <gmock/gmock.h>

#include <ctime>
#include <string>

#include "support/errors.h"
#include "testing/sanitizers.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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
}

TEST(GlobPlan, NamesNarrowNothingIfCaseIsIgnored) {
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

std::string Repeat(const std::string& text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

// A sanitizer makes RE2 more than ten times slower.
constexpr std::clock_t kMaxPlanning =
    testing_support::kAddressSanitizer || testing_support::kThreadSanitizer ? CLOCKS_PER_SEC
                                                                            : CLOCKS_PER_SEC / 20;

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
      const std::clock_t start = std::clock();
      try {
        PlanGlob(pattern, case_sensitive);
      } catch (const support::CallError&) {
        // It is refused.
      }
      EXPECT_LT(std::clock() - start, kMaxPlanning) << pattern;
    }
  }
}

}  // namespace
}  // namespace find
