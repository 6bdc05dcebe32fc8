#include "find/glob_plan.h"

#include <gmock/gmock.h>

#include <string>

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
  for (std::size_t i = 0; i < kMaximumGlobWalks; ++i) {
    choices += (i > 0 ? "," : "") + ("d" + std::to_string(i));
  }
  EXPECT_THAT(PlanGlob("x/{" + choices + "}/*.c", true), SizeIs(kMaximumGlobWalks));
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

TEST(GlobPlan, FiltersNamesIfEveryAlternativeAllowsIt) {
  EXPECT_THAT(PlanGlob("**/*.{c,h}", true)[0].listing.name_filters, ElementsAre("*.c", "*.h"));
  EXPECT_THAT(PlanGlob("{**/*.c,**}", true)[0].listing.name_filters, IsEmpty());
  EXPECT_THAT(PlanGlob("**/*.c", false)[0].listing.name_filters, IsEmpty());
}

}  // namespace
}  // namespace find
