// What the path rules say when they refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/tools/path_rules_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(PathRulesTest, OutsideTextNamesThePathAndListsTheRoots) {
  EXPECT_EQ(Refusal("/etc/shadow"),
            "/etc/shadow is outside the directories that may be used: /host/work (writable), " +
                Guest("library") + " (read-only)");
}

TEST_F(PathRulesTest, ReadOnlyTextSaysHowToMakeItWritable) {
  options.roots = {{.host = Guest("work"), .guest = Guest("work"), .writable = true},
                   {.host = Guest("library"), .guest = Guest("library"), .writable = false},
                   {.host = "/data", .guest = "/data", .writable = false}};
  EXPECT_THAT(Refusal(Guest("library/book"), Access::kWrite),
              AllOf(HasSubstr(Guest("library/book") + " is read-only"),
                    HasSubstr(Guest("library") + " (read-only)"),
                    HasSubstr("`limactl stop default`, then `limactl edit default --start "
                              "--mount-only " +
                              Guest("work") + ":w --mount-only " + Guest("library") +
                              ":w --mount-only /data`")));
}

TEST_F(PathRulesTest, ReadOnlyTextQuotesForTheShellAndForTheFlag) {
  fs::create_directory(top / "a b");
  options.roots = {{.host = Guest("a b"), .guest = Guest("a b"), .writable = false},
                   {.host = "/x,y", .guest = "/x,y", .writable = false}};
  EXPECT_THAT(Refusal(Guest("a b/c"), Access::kWrite),
              AllOf(HasSubstr("'" + Guest("a b") + ":w'"), HasSubstr("'\"/x,y\"'")));
}

TEST_F(PathRulesTest, ReadOnlyTextKeepsMountPointsThatTheFlagCannotExpress) {
  EXPECT_THAT(Refusal(Guest("library/book"), Access::kWrite),
              AllOf(HasSubstr("limactl stop default"), HasSubstr("limactl edit default --start"),
                    HasSubstr("`writable: true`"), Not(HasSubstr("--mount-only /"))));
}

TEST_F(PathRulesTest, ReadOnlyTextOfAnAllowedPathNamesItsOption) {
  options.mounts = {options.roots[0]};
  EXPECT_THAT(Refusal(Guest("library/book"), Access::kWrite),
              HasSubstr("--allow-path " + Guest("library") + ":w"));
}

TEST_F(PathRulesTest, ReadOnlyTextOfANarrowedRootNamesItsMount) {
  fs::create_directory(top / "library/shelf");
  options.roots = {{.host = Guest("library/shelf"), .guest = Guest("library/shelf")}};
  options.mounts = {{.host = Guest("library"), .guest = Guest("library")}};
  EXPECT_THAT(Refusal(Guest("library/shelf/x"), Access::kWrite),
              HasSubstr("--mount-only " + Guest("library") + ":w"));
}

TEST_F(PathRulesTest, WithoutRootsEverythingIsOutside) {
  options.roots.clear();
  EXPECT_THAT(Refusal("/host/work"),
              HasSubstr("may be used: none, as the instance mounts nothing. "));
  EXPECT_THAT(Refusal("/host/work"), HasSubstr("--start --mount-only DIRECTORY:w"));
}

}  // namespace
}  // namespace tools
