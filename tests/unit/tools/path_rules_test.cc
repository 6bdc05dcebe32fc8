#include "tools/path_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The guest's directories are GUEST/work (writable, the host's /host/work), GUEST/library
/// (read-only, the same name on the host) and what a test adds. GUEST/outside is no root.
class PathRulesTest : public ::testing::Test {
 protected:
  PathRulesTest() {
    for (const char* name : {"work", "library", "outside"}) {
      fs::create_directory(top / name);
    }
    WriteFile(top / "work/file", "text");
    WriteFile(top / "library/book", "text");
    WriteFile(top / "outside/secret", "secret");
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = Guest("work"), .writable = true},
                     {.host = Guest("library"), .guest = Guest("library"), .writable = false}};
  }

  static void WriteFile(const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  [[nodiscard]] std::string Guest(const std::string& below) const { return (top / below).string(); }

  ResolvedPath Resolve(const std::string& path, Access access = Access::kRead) {
    return rules().Resolve(path, access, guest, {});
  }

  std::string Refusal(const std::string& path, Access access = Access::kRead) {
    try {
      const ResolvedPath resolved = Resolve(path, access);
      ADD_FAILURE() << path << " was not refused but resolved to " << resolved.guest;
      return "";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  PathRules& rules() {
    if (!rules_) rules_ = std::make_unique<PathRules>(options);
    return *rules_;
  }

  testing_support::TemporaryDirectory directory;
  fs::path top = directory.path();
  testing_support::LocalGuest guest;
  PathRules::Options options;

 private:
  std::unique_ptr<PathRules> rules_;
};

// Rule 1: names of a path.

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

// Rule 2: form and lexical clean-up.

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

// Rule 3: what the guest resolves.

TEST_F(PathRulesTest, LinkInsideTheRootIsFollowed) {
  fs::create_symlink("file", top / "work/link");
  EXPECT_EQ(Resolve("/host/work/link").guest, Guest("work/file"));
}

TEST_F(PathRulesTest, LinkToAFileOutsideIsRefused) {
  fs::create_symlink(top / "outside/secret", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link"),
              AllOf(HasSubstr("/host/work/link leads to " + Guest("outside/secret")),
                    HasSubstr("/host/work (writable)")));
}

TEST_F(PathRulesTest, LinkToADirectoryOutsideIsRefused) {
  fs::create_directory_symlink(top / "outside", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link/secret"), HasSubstr("outside"));
  EXPECT_THAT(Refusal("/host/work/link/new", Access::kWrite), HasSubstr("outside"));
}

TEST_F(PathRulesTest, MissingFilesBelowALinkedParentOutsideAreRefused) {
  fs::create_directory_symlink(top / "outside", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link/a/b/c", Access::kWrite), HasSubstr("outside"));
  EXPECT_THAT(Refusal("/host/work/link/a/b/c"), HasSubstr("outside"));
}

TEST_F(PathRulesTest, LinkThatOnlySharesTheRootsBeginningIsRefused) {
  fs::create_directory(top / "work_sensitive");
  fs::create_directory_symlink(top / "work_sensitive", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link"), HasSubstr("outside"));
}

TEST_F(PathRulesTest, DanglingLinkOutsideIsRefusedForWriting) {
  fs::create_symlink(top / "outside/pwned", top / "work/x");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("outside/pwned"));
}

TEST_F(PathRulesTest, DanglingLinkWithAMissingParentOutsideIsRefusedForWriting) {
  fs::create_symlink(top / "outside/a/b/pwned", top / "work/x");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("outside/a/b/pwned"));
  EXPECT_THAT(Refusal("/host/work/x/y", Access::kWrite), HasSubstr("outside/a/b/pwned/y"));
}

TEST_F(PathRulesTest, DanglingLinkInsideMayBeWritten) {
  fs::create_symlink("deep/er/new", top / "work/x");
  const ResolvedPath resolved = Resolve("/host/work/x", Access::kWrite);
  EXPECT_EQ(resolved.guest, Guest("work/deep/er/new"));
  EXPECT_EQ(resolved.existing_parent, Guest("work"));
  EXPECT_FALSE(resolved.attributes);
}

TEST_F(PathRulesTest, ChainOfLinksIsFollowedToItsEnd) {
  fs::create_symlink("file", top / "work/l0");
  for (int i = 1; i <= 20; ++i) {
    fs::create_symlink("l" + std::to_string(i - 1), top / "work" / ("l" + std::to_string(i)));
  }
  EXPECT_EQ(Resolve("/host/work/l20").guest, Guest("work/file"));
  fs::remove(top / "work/l0");
  fs::create_symlink(top / "outside/secret", top / "work/l0");
  EXPECT_THAT(Refusal("/host/work/l20"), HasSubstr("outside"));
}

TEST_F(PathRulesTest, ChainOfDanglingLinksIsFollowedToItsEnd) {
  fs::create_symlink("b", top / "work/a");
  fs::create_symlink(top / "outside/missing/c", top / "work/b");
  EXPECT_THAT(Refusal("/host/work/a", Access::kWrite), HasSubstr("outside/missing/c"));
}

TEST_F(PathRulesTest, LoopOfLinksIsAnErrorThatSaysSo) {
  fs::create_symlink("b", top / "work/a");
  fs::create_symlink("a", top / "work/b");
  EXPECT_THAT(Refusal("/host/work/a"), HasSubstr("loop of symbolic links"));
  EXPECT_THAT(Refusal("/host/work/a/b/c", Access::kWrite), HasSubstr("loop of symbolic links"));
}

TEST_F(PathRulesTest, LoopThatGrowsWithEachTurnEnds) {
  fs::create_symlink("a/x", top / "work/a");
  EXPECT_THAT(Refusal("/host/work/a"), HasSubstr("loop of symbolic links"));
}

TEST_F(PathRulesTest, LinkThroughAMissingDirectoryAndBackIsRefused) {
  fs::create_symlink("missing/../file", top / "work/x");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("does not exist"));
}

TEST_F(PathRulesTest, FileUsedAsADirectoryIsRefused) {
  EXPECT_THAT(Refusal("/host/work/file/x"), HasSubstr("not a directory"));
  EXPECT_THAT(Refusal("/host/work/file/x/y", Access::kWrite), HasSubstr("not a directory"));
}

TEST_F(PathRulesTest, MissingFileIsNoErrorAndKnowsItsDeepestExistingParent) {
  const ResolvedPath near = Resolve("/host/work/new", Access::kWrite);
  EXPECT_FALSE(near.attributes);
  EXPECT_EQ(near.existing_parent, Guest("work"));
  fs::create_directory(top / "work/a");
  const ResolvedPath far = Resolve("/host/work/a/b/c/d", Access::kWrite);
  EXPECT_EQ(far.guest, Guest("work/a/b/c/d"));
  EXPECT_EQ(far.existing_parent, Guest("work/a"));
}

TEST_F(PathRulesTest, MountPointThatIsALinkCountsResolved) {
  fs::create_directory(top / "volumes");
  WriteFile(top / "volumes/file", "");
  fs::create_directory_symlink(top / "volumes", top / "mounted");
  options.roots.push_back({.host = "/host/volume", .guest = Guest("mounted"), .writable = true});
  EXPECT_EQ(Resolve("/host/volume/file").guest, Guest("volumes/file"));
  EXPECT_EQ(rules().ToHost(Guest("volumes/file")), "/host/volume/file");
  EXPECT_EQ(rules().ToHost(Guest("mounted/file")), "/host/volume/file");
}

TEST_F(PathRulesTest, MountThatAppearsAsALinkAfterTheFirstCallIsSeen) {
  options.roots.push_back({.host = "/host/volume", .guest = Guest("mounted"), .writable = true});
  EXPECT_TRUE(Resolve("/host/work/file").attributes);
  fs::create_directory(top / "volumes");
  fs::create_directory_symlink(top / "volumes", top / "mounted");
  EXPECT_EQ(Resolve("/host/volume").guest, Guest("volumes"));
}

TEST_F(PathRulesTest, NarrowedRootThatBecomesALinkDoesNotMove) {
  options.mounts = options.roots;
  fs::create_directory(top / "work/project");
  options.roots = {
      {.host = "/host/work/project", .guest = Guest("work/project"), .writable = true}};
  EXPECT_TRUE(Resolve("/host/work/project").attributes);
  fs::rename(top / "work/project", top / "work/old");
  fs::create_directory_symlink(top / "outside", top / "work/project");
  EXPECT_THAT(Refusal("/host/work/project/secret"), HasSubstr("outside the directories"));
  EXPECT_THAT(Refusal("/host/work/project/new", Access::kWrite),
              HasSubstr("outside the directories"));
}

TEST_F(PathRulesTest, NarrowedRootThatAppearsAfterTheFirstCallIsSeen) {
  options.mounts = options.roots;
  options.roots = {{.host = "/host/work/a/b", .guest = Guest("work/a/b"), .writable = true}};
  EXPECT_FALSE(Resolve("/host/work/a/b/file").attributes);
  fs::create_directories(top / "work/real/b");
  fs::create_directory_symlink(top / "work/real", top / "work/a");
  EXPECT_EQ(Resolve("/host/work/a/b").guest, Guest("work/real/b"));
}

TEST_F(PathRulesTest, NarrowedRootThatIsALinkHasTheRightsOfTheMountItLeadsTo) {
  fs::create_directories(top / "work/vendor");
  fs::create_directory_symlink(top / "work/vendor", top / "work/link");
  options.roots.push_back(
      {.host = "/host/work/vendor", .guest = Guest("work/vendor"), .writable = false});
  options.mounts = options.roots;
  options.roots = {{.host = "/host/work/link", .guest = Guest("work/link"), .writable = true}};
  EXPECT_TRUE(Resolve("/host/work/link").attributes);
  EXPECT_THAT(Refusal("/host/work/link/new", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, NothingIsWrittenWhereTheMountPointDoesNotExist) {
  options.roots.push_back({.host = "/host/gone", .guest = Guest("no/gone"), .writable = true});
  EXPECT_THAT(Refusal("/host/gone/file", Access::kWrite), HasSubstr("not there in the guest"));
  EXPECT_FALSE(Resolve("/host/gone/file").attributes);
}

TEST_F(PathRulesTest, LinkIntoAnotherRootIsAllowed) {
  fs::create_symlink(top / "library/book", top / "work/book");
  EXPECT_EQ(Resolve("/host/work/book").guest, Guest("library/book"));
}

TEST_F(PathRulesTest, LinkIntoAReadOnlyRootMayNotBeWritten) {
  fs::create_symlink(top / "library/book", top / "work/book");
  EXPECT_THAT(Refusal("/host/work/book", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, ReadOnlyMountInsideAWritableOneIsReadOnly) {
  fs::create_directory(top / "work/vendor");
  options.roots.push_back(
      {.host = "/host/work/vendor", .guest = Guest("work/vendor"), .writable = false});
  EXPECT_THAT(Refusal("/host/work/vendor/new", Access::kWrite), HasSubstr("read-only"));
  EXPECT_THAT(Refusal("/host/work/vendor", Access::kWrite), HasSubstr("read-only"));
  EXPECT_EQ(Resolve("/host/work/new", Access::kWrite).guest, Guest("work/new"));
}

TEST_F(PathRulesTest, ReadOnlyMountInsideAWritableOneIsReadOnlyThroughALinkToo) {
  fs::create_directory(top / "work/vendor");
  fs::create_directory_symlink("vendor", top / "work/alias");
  options.roots.push_back({.host = "/else", .guest = Guest("work/vendor"), .writable = false});
  EXPECT_THAT(Refusal("/host/work/alias/new", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, WritableMountInsideAReadOnlyOneIsWritable) {
  fs::create_directory(top / "library/drafts");
  options.roots.push_back(
      {.host = Guest("library/drafts"), .guest = Guest("library/drafts"), .writable = true});
  EXPECT_EQ(Resolve(Guest("library/drafts/new"), Access::kWrite).guest,
            Guest("library/drafts/new"));
}

TEST_F(PathRulesTest, OfTwoNamesOfOneDirectoryTheStricterCounts) {
  fs::create_directory_symlink(top / "library", top / "shelf");
  options.roots.push_back({.host = "/shelf", .guest = Guest("shelf"), .writable = true});
  EXPECT_THAT(Refusal("/shelf/book", Access::kWrite), HasSubstr("read-only"));
  std::swap(options.roots[1], options.roots[2]);
  const PathRules swapped(options);
  EXPECT_THROW((void)swapped.Resolve("/shelf/book", Access::kWrite, guest, {}), support::CallError);
}

TEST_F(PathRulesTest, PathsThroughProcAreRefused) {
  for (const char* path :
       {"/proc/self/root/etc/passwd", "/proc/self/cwd", "/dev/fd/0", "/dev/zero"}) {
    EXPECT_THAT(Refusal(path), HasSubstr("outside")) << path;
  }
  fs::create_directory_symlink("/proc/self/root", top / "work/proc");
  EXPECT_THAT(Refusal("/host/work/proc" + Guest("outside/secret")), HasSubstr("outside"));
}

TEST_F(PathRulesTest, LinkSwappedInAfterTheGuestResolvedThePathIsFollowedAndRefused) {
  guest.set_hook([&](testing_support::Operation operation, const std::string& path) {
    if (operation != testing_support::Operation::kLStat || path != Guest("work/file")) return;
    guest.set_hook({});
    fs::remove(top / "work/file");
    fs::create_symlink(top / "outside/secret", top / "work/file");
  });
  EXPECT_THAT(Refusal("/host/work/file"), HasSubstr("outside/secret"));
}

TEST_F(PathRulesTest, RefusalOfTheGuestNamesTheHostsPath) {
  guest.set_hook([](testing_support::Operation, const std::string& path) {
    throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "realpath", path, "");
  });
  EXPECT_THAT(Refusal("/host/work/file"),
              AllOf(HasSubstr("/host/work/file"), Not(HasSubstr(Guest("work")))));
}

// Rule 4: texts.

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

// Rule 6: no path given.

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
}  // namespace tools
