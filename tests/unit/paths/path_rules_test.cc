// What a path says by itself, and what is taken where none is given.

#include "paths/path_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Names of a path.

TEST_F(PathRulesTest, HostPathIsTranslatedToTheGuest) {
  const ResolvedPath resolved = Resolve("/host/work/file");
  EXPECT_EQ(resolved.guest, Guest("work/file"));
  EXPECT_EQ(resolved.host, "/host/work/file");
  ASSERT_TRUE(resolved.attributes);
  EXPECT_EQ(resolved.attributes->type, guest::FileType::kRegular);
}

TEST_F(PathRulesTest, GuestPathIsUnderstoodAndNamedByItsHostName) {
  const ResolvedPath resolved = Resolve(Guest("work/file"));
  EXPECT_EQ(resolved.guest, Guest("work/file"));
  EXPECT_EQ(resolved.host, "/host/work/file");
}

TEST_F(PathRulesTest, HostPathWithItsLinksResolvedIsUnderstood) {
  options.roots[0].host_aliases = {"/private/host/work"};
  const ResolvedPath resolved = Resolve("/private/host/work/file");
  EXPECT_EQ(resolved.guest, Guest("work/file"));
  EXPECT_EQ(resolved.host, "/host/work/file");
}

TEST_F(PathRulesTest, LocationThatIsAnothersMountPointIsReadAsTheHosts) {
  fs::create_directory(top / "third");
  options.roots.push_back({.host = Guest("work"), .guest = Guest("third"), .writable = true});
  EXPECT_EQ(Resolve(Guest("work/file")).guest, Guest("third/file"));
}

TEST_F(PathRulesTest, HostPathOverWhichAnotherMountLiesInTheGuestIsRefused) {
  fs::create_directory(top / "work/inner");
  WriteFile(top / "work/inner/file", "");
  options.roots.push_back({.host = "/other", .guest = Guest("work/inner"), .writable = true});
  options.mounts = options.roots;
  EXPECT_THAT(Refusal("/host/work/inner/file"),
              AllOf(HasSubstr("/host/work/inner/file"), HasSubstr("the mount of /other"),
                    HasSubstr("give /other/file")));
  EXPECT_THAT(Refusal("/host/work/inner"), ::testing::EndsWith("give /other"));
  EXPECT_EQ(Resolve("/other/file").host, "/other/file");
  EXPECT_EQ(Resolve(Guest("work/inner/file")).host, "/other/file");
  EXPECT_EQ(Resolve("/host/work/file").guest, Guest("work/file"));
}

TEST_F(PathRulesTest, HostPathThatIsWhatIsMountedThereIsNoOther) {
  fs::create_directory(top / "work/inner");
  WriteFile(top / "work/inner/file", "");
  options.mounts = options.roots;
  options.mounts.push_back({.host = "/link/to/inner",
                            .guest = Guest("work/inner"),
                            .host_aliases = {"/host/work/inner"}});
  EXPECT_EQ(Resolve("/host/work/inner/file").guest, Guest("work/inner/file"));
}

TEST_F(PathRulesTest, LongestRootWins) {
  fs::create_directory(top / "inner");
  WriteFile(top / "inner/file", "");
  options.roots.push_back({.host = "/host/work/inner", .guest = Guest("inner"), .writable = true});
  EXPECT_EQ(Resolve("/host/work/inner/file").guest, Guest("inner/file"));
  EXPECT_EQ(Resolve("/host/work/file").guest, Guest("work/file"));
}

TEST_F(PathRulesTest, RootMatchesWholeComponentsOnly) {
  EXPECT_THAT(Refusal("/host/work_sensitive/file"), HasSubstr("outside"));
  fs::create_directory(top / "work_sensitive");
  EXPECT_THAT(Refusal(Guest("work_sensitive")), HasSubstr("outside"));
}

TEST_F(PathRulesTest, NameThatBeginsWithTwoDotsIsAName) {
  WriteFile(top / "work/..foo", "");
  EXPECT_EQ(Resolve("/host/work/..foo").guest, Guest("work/..foo"));
}

TEST_F(PathRulesTest, RootItselfMayBeNamedWithATrailingSlash) {
  EXPECT_EQ(Resolve("/host/work/").guest, Guest("work"));
  EXPECT_EQ(Resolve("/host/work").guest, Guest("work"));
}

TEST_F(PathRulesTest, RootDirectoryAsRootHoldsEverything) {
  options.roots = {{.host = "/", .guest = "/", .writable = false}};
  EXPECT_EQ(Resolve(Guest("outside/secret")).guest, Guest("outside/secret"));
  EXPECT_EQ(rules().ToHost("/a"), "/a");
}

TEST_F(PathRulesTest, RootDirectoryOfTheHostMayBeMountedElsewhere) {
  options.roots = {{.host = "/", .guest = Guest("work"), .writable = false}};
  EXPECT_EQ(Resolve("/file").guest, Guest("work/file"));
  EXPECT_EQ(rules().ToHost(Guest("work/file")), "/file");
}

TEST_F(PathRulesTest, EscapesTildesAndSpacesInNamesAreJustNames) {
  for (const std::string name : {"%2e%2e", "~", "two words ", "dot.", "line\nbreak", "$(id)"}) {
    WriteFile(top / "work" / name, "");
    EXPECT_EQ(Resolve("/host/work/" + name).guest, Guest("work/" + name));
  }
}

TEST_F(PathRulesTest, ComposedAndDecomposedNamesAreDifferentNames) {
  WriteFile(top / "work/\u00e9", "");
  EXPECT_TRUE(Resolve("/host/work/\u00e9").attributes);
  EXPECT_FALSE(Resolve("/host/work/e\u0301").attributes);
}

TEST_F(PathRulesTest, GuestPathsAreTranslatedBackToTheHost) {
  EXPECT_EQ(rules().ToHost(Guest("work/a/b")), "/host/work/a/b");
  EXPECT_EQ(rules().ToHost(Guest("work")), "/host/work");
  EXPECT_EQ(rules().ToHost("/etc/passwd"), "/etc/passwd");
}

// Form and lexical clean-up.

TEST_F(PathRulesTest, RelativePathIsRefusedWithTheJoinedProposal) {
  options.roots.resize(1);
  EXPECT_THAT(Refusal("src/a.cc"),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr("/host/work/src/a.cc")));
}

TEST_F(PathRulesTest, RelativePathIsJoinedToTheWorkingDirectoryWhereThereAreMoreRoots) {
  options.working_directory = "/host/work/project";
  EXPECT_THAT(Refusal("src/../a.cc"), HasSubstr("/host/work/project/a.cc"));
}

TEST_F(PathRulesTest, RelativePathWithoutAnythingToJoinItToListsTheRoots) {
  EXPECT_THAT(Refusal("a.cc"),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr("/host/work (writable)")));
}

TEST_F(PathRulesTest, EmptyPathIsRefused) {
  EXPECT_THAT(Refusal(""), AllOf(HasSubstr("empty"), HasSubstr("expected an absolute path")));
}

TEST_F(PathRulesTest, NulInAPathIsRefused) {
  EXPECT_THAT(Refusal(std::string("/host/work/a\0b", 14)), HasSubstr("NUL"));
  EXPECT_EQ(guest.total(), 0);
}

TEST_F(PathRulesTest, DotsAndSlashesAreCleanedBeforeTheMatch) {
  EXPECT_EQ(Resolve("/host//work/./a/../file").guest, Guest("work/file"));
  EXPECT_THAT(Refusal("/host/work/../../etc/passwd"), HasSubstr("/etc/passwd is outside"));
  EXPECT_THAT(Refusal("/host/work//../"), HasSubstr("outside"));
  EXPECT_EQ(Resolve("/../host/work/file").guest, Guest("work/file"));
}

// No path given.

TEST_F(PathRulesTest, DefaultDirectoryIsTheWorkingDirectoryWhereItIsUnderARoot) {
  options.working_directory = "/host/work/project";
  EXPECT_EQ(rules().DefaultDirectory(), "/host/work/project");
}

TEST_F(PathRulesTest, DefaultDirectoryIsElseTheOnlyRoot) {
  options.roots.resize(1);
  options.working_directory = "/somewhere/else";
  EXPECT_EQ(rules().DefaultDirectory(), "/host/work");
}

TEST_F(PathRulesTest, WithoutADefaultDirectoryTheRootsAreListed) {
  try {
    (void)rules().DefaultDirectory();
    FAIL();
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/host/work (writable)"));
  }
}

TEST_F(PathRulesTest, WorkingDirectoryOnlyMatchesHostNames) {
  options.working_directory = Guest("work");
  EXPECT_THROW((void)rules().DefaultDirectory(), support::CallError);
}

// Round trips, as the header states them.

TEST_F(PathRulesTest, ExistingPathTakesTwoRoundTripsOnceTheRootsAreKnown) {
  (void)Resolve("/host/work/file");
  EXPECT_EQ(guest.counts(), "LStat 1, RealPath 3");
  guest.ResetCounts();
  (void)Resolve("/host/work/file");
  EXPECT_EQ(guest.counts(), "LStat 1, RealPath 1");
  guest.ResetCounts();
  (void)Resolve("/host/work/new", Access::kWrite);
  EXPECT_EQ(guest.counts(), "LStat 1, RealPath 1");
}

TEST_F(PathRulesTest, PathThatIsOutsideByItsTextTakesNoRoundTrip) {
  (void)Refusal("/etc/passwd");
  EXPECT_EQ(guest.total(), 0);
}

}  // namespace
}  // namespace paths
