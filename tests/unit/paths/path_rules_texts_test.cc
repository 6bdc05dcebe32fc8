// What the path rules say when they refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
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

TEST_F(PathRulesTest, ReadOnlyTextSaysHowToMakeItWritableAndLeavesOtherMountsAlone) {
  options.roots = {{.host = Guest("work"), .guest = Guest("work"), .writable = true},
                   {.host = Guest("library"), .guest = Guest("library"), .writable = false},
                   {.host = "/data", .guest = "/data", .writable = false}};
  const std::string text = Refusal(Guest("library/book"), Access::kWrite);
  EXPECT_THAT(text,
              AllOf(HasSubstr(Guest("library/book") + " is read-only"),
                    HasSubstr(Guest("library") + " (read-only)"),
                    HasSubstr("`limactl stop default`, then `limactl edit default --start --set "
                              "'.mounts += [{\"location\":\"" +
                              Guest("library") + "\",\"mountPoint\":\"" + Guest("library") +
                              "\",\"writable\":true}]'`"),
                    Not(HasSubstr("--mount-only"))));
}

TEST_F(PathRulesTest, ReadOnlyTextQuotesForTheShellAndForJson) {
  fs::create_directory(top / "it's \"b\"");
  options.roots = {{.host = Guest("it's \"b\""), .guest = Guest("it's \"b\""), .writable = false}};
  EXPECT_THAT(Refusal(Guest("it's \"b\"/c"), Access::kWrite),
              HasSubstr("\"location\":\"" + Guest("it'\"'\"'s \\\"b\\\"") + "\""));
}

TEST_F(PathRulesTest, ReadOnlyTextKeepsTheMountPoint) {
  options.roots = {{.host = "/host/library", .guest = Guest("library"), .writable = false}};
  EXPECT_THAT(Refusal("/host/library/book", Access::kWrite),
              HasSubstr("{\"location\":\"/host/library\",\"mountPoint\":\"" + Guest("library") +
                        "\",\"writable\":true}"));
}

TEST_F(PathRulesTest, ReadOnlyTextKeepsTheMountPointAsLimaComparesIt) {
  options.roots = {{.host = "/host/library",
                    .guest = Guest("library"),
                    .written_guest = Guest("library") + "/"}};
  EXPECT_THAT(Refusal("/host/library/book", Access::kWrite),
              HasSubstr("\"mountPoint\":\"" + Guest("library") + "/\""));
}

TEST_F(PathRulesTest, ReadOnlyTextOfWhatNoCommandLineCanSayNamesTheEditor) {
  fs::create_directory(top / "a\nb");
  options.roots = {{.host = Guest("a\nb"), .guest = Guest("a\nb"), .writable = false}};
  EXPECT_THAT(Refusal(Guest("a\nb/c"), Access::kWrite),
              AllOf(HasSubstr("`limactl edit default --start`, and sets `writable: true`"),
                    Not(HasSubstr("--set"))));
}

TEST_F(PathRulesTest, ReadOnlyTextOfAnAllowedPathNamesItsOption) {
  options.mounts = {options.roots[0]};
  EXPECT_THAT(Refusal(Guest("library/book"), Access::kWrite),
              HasSubstr("--allow-path " + Guest("library") + ":w"));
}

TEST_F(PathRulesTest, ReadOnlyTextOfAnAllowedPathNamesItsOptionAlsoWhereNothingIsMounted) {
  options.roots = {{.host = Guest("library"), .guest = Guest("library"), .is_guests_own = true}};
  EXPECT_THAT(
      Refusal(Guest("library/book"), Access::kWrite),
      AllOf(HasSubstr("--allow-path " + Guest("library") + ":w"), Not(HasSubstr("limactl edit"))));
}

TEST_F(PathRulesTest, ReadOnlyTextOfANarrowedRootNamesItsMount) {
  fs::create_directory(top / "library/shelf");
  options.roots = {{.host = Guest("library/shelf"), .guest = Guest("library/shelf")}};
  options.mounts = {{.host = Guest("library"), .guest = Guest("library")}};
  EXPECT_THAT(Refusal(Guest("library/shelf/x"), Access::kWrite),
              HasSubstr("\"location\":\"" + Guest("library") + "\""));
}

TEST_F(PathRulesTest, ReadOnlyTextOfAReadOnlyMountBehindAWritableRootNamesTheMount) {
  fs::create_directory_symlink(top / "library", top / "work/link");
  options.mounts = options.roots;
  options.roots = {{.host = "/host/work/link", .guest = Guest("work/link"), .writable = true}};
  EXPECT_THAT(Refusal("/host/work/link/book", Access::kWrite),
              AllOf(HasSubstr("it lies in " + Guest("library") +
                              " (read-only). The directories "
                              "are: /host/work/link (writable)"),
                    HasSubstr("\"location\":\"" + Guest("library") + "\"")));
}

TEST_F(PathRulesTest, ReadOnlyTextOfAWritableMountsRootThatIsReadOnlySaysThatItIsMeantSo) {
  options.mounts = options.roots;
  options.roots[0].writable = false;
  EXPECT_THAT(Refusal("/host/work/file", Access::kWrite),
              HasSubstr("The server was told to use it so."));
}

TEST_F(PathRulesTest, WithoutRootsEverythingIsOutside) {
  options.roots.clear();
  EXPECT_THAT(Refusal("/host/work"),
              HasSubstr("may be used: none, as the instance mounts nothing. "));
  EXPECT_THAT(Refusal("/host/work"), HasSubstr("--start --mount DIRECTORY:w"));
}

}  // namespace
}  // namespace paths
