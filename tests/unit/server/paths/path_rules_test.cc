// SPDX-License-Identifier: Apache-2.0
// tests/suites/{path_rules,path_options}.txt have what a client sees.

#include "paths/path_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/host_programs.h"
#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::WriteFile;

/// The roots are GUEST/work (writable, on the host /host/work) and GUEST/library (read-only, the
/// same name on the host). GUEST/outside is not a root.
class PathRulesTest : public ::testing::Test {
 protected:
  PathRulesTest() {
    WriteFile(top / "work/file", "text");
    WriteFile(top / "library/book", "text");
    WriteFile(top / "outside/secret", "secret");
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = Guest("work"), .writable = true},
                     {.host = Guest("library"), .guest = Guest("library"), .writable = false}};
  }

  [[nodiscard]] std::string Guest(const std::string& below) const { return (top / below).string(); }

  ResolvedPath Resolve(const std::string& path, Access access = Access::kRead) {
    return rules().Resolve(path, access, guest, {});
  }

  std::string Refusal(const std::string& path, Access access = Access::kRead) {
    return testing_support::ErrorOf([&] { return Resolve(path, access); });
  }

  PathRules& rules() {
    if (!rules_) rules_ = std::make_unique<PathRules>(options);
    return *rules_;
  }

  testing_support::TemporaryDirectory directory;
  std::filesystem::path top = directory.path();
  testing_support::LocalGuest guest;
  PathRules::Options options;

 private:
  std::unique_ptr<PathRules> rules_;
};

TEST_F(PathRulesTest, HostAndGuestNamesReachTheSameFile) {
  options.roots[0].resolved_host = "/private/host/work";
  fs::create_directory_symlink(top / "outside", top / "work/link");
  for (const std::string& path :
       {std::string("/host/work/file"), Guest("work/file"), std::string("/private/host/work/file"),
        std::string("/host//work/./a/../file"), std::string("/../host/work/file"),
        std::string("/host/work/link/../file")}) {
    const ResolvedPath resolved = Resolve(path);
    EXPECT_EQ(resolved.guest, Guest("work/file")) << path;
    EXPECT_EQ(resolved.host, "/host/work/file") << path;
    ASSERT_TRUE(resolved.attributes) << path;
    EXPECT_EQ(resolved.attributes->type, guest::FileType::kRegular) << path;
  }
  EXPECT_EQ(Resolve("/host/work/").guest, Guest("work"));
  EXPECT_EQ(rules().ToHost(Guest("work/a/b")), "/host/work/a/b");
  EXPECT_EQ(rules().ToHost("/etc/passwd"), "/etc/passwd");
}

TEST_F(PathRulesTest, LocationThatIsAnothersMountPointIsReadAsTheHosts) {
  fs::create_directory(top / "third");
  options.roots.push_back({.host = Guest("work"), .guest = Guest("third"), .writable = true});
  EXPECT_EQ(Resolve(Guest("work/file")).guest, Guest("third/file"));
}

TEST_F(PathRulesTest, HostPathOverWhichAnotherMountLiesInTheGuestIsRefused) {
  WriteFile(top / "work/inner/file", "");
  options.roots.push_back({.host = "/other", .guest = Guest("work/inner"), .writable = true});
  EXPECT_THAT(Refusal("/host/work/inner/file"),
              AllOf(HasSubstr("/host/work/inner/file"), HasSubstr("the mount of /other"),
                    HasSubstr("give /other/file")));
  EXPECT_THAT(Refusal("/host/work/inner"), ::testing::EndsWith("give /other"));
  EXPECT_EQ(Resolve("/other/file").host, "/other/file");
  EXPECT_EQ(Resolve(Guest("work/inner/file")).host, "/other/file");
  EXPECT_EQ(Resolve("/host/work/file").guest, Guest("work/file"));
}

TEST_F(PathRulesTest, HostPathThatIsWhatIsMountedThereIsUsed) {
  WriteFile(top / "work/inner/file", "");
  options.mounts = options.roots;
  options.mounts.push_back({.host = "/link/to/inner",
                            .guest = Guest("work/inner"),
                            .resolved_host = "/host/work/inner"});
  EXPECT_EQ(Resolve("/host/work/inner/file").guest, Guest("work/inner/file"));
}

TEST_F(PathRulesTest, LongestRootCounts) {
  WriteFile(top / "inner/file", "");
  options.roots.push_back({.host = "/host/work/inner", .guest = Guest("inner"), .writable = true});
  EXPECT_EQ(Resolve("/host/work/inner/file").guest, Guest("inner/file"));
  EXPECT_EQ(Resolve("/host/work/file").guest, Guest("work/file"));
}

TEST_F(PathRulesTest, RootDirectoryMayBeARoot) {
  options.roots = {{.host = "/", .guest = "/", .writable = false}};
  EXPECT_EQ(Resolve(Guest("outside/secret")).guest, Guest("outside/secret"));
  EXPECT_EQ(rules().ToHost("/a"), "/a");
  options.roots = {{.host = "/", .guest = Guest("work"), .writable = false}};
  const PathRules elsewhere(options);
  EXPECT_EQ(elsewhere.Resolve("/file", Access::kRead, guest, {}).guest, Guest("work/file"));
  EXPECT_EQ(elsewhere.ToHost(Guest("work/file")), "/file");
}

TEST_F(PathRulesTest, PathsOutsideByTheirNameAreRefusedWithoutARoundTrip) {
  for (const char* path : {"/etc/passwd", "/host/work/../../etc/passwd", "/host/work//../",
                           "/host/work_sensitive/file", "/proc/self/root/etc/passwd",
                           "/proc/self/cwd", "/dev/fd/0", "/dev/zero"}) {
    EXPECT_THAT(Refusal(path), HasSubstr("is outside the directories that may be used: /host/work"))
        << path;
  }
  fs::create_directory(top / "work_sensitive");
  EXPECT_THAT(Refusal(Guest("work_sensitive")), HasSubstr("outside"));
  EXPECT_THAT(Refusal(""), AllOf(HasSubstr("empty"), HasSubstr("expected an absolute path")));
  EXPECT_THAT(Refusal(std::string("/host/work/a\0b", 14)), HasSubstr("NUL"));
  EXPECT_EQ(guest.total(), 0);
}

// Without a path, or with a relative one.

TEST_F(PathRulesTest, DefaultIsTheWorkingDirectoryInARootElseTheOnlyRoot) {
  const auto refusal = [this] {
    return testing_support::ErrorOf(
        [this] { return PathRules(options).Resolve("src/../a.cc", Access::kRead, guest, {}); });
  };
  options.working_directory = "/host/work/project";
  EXPECT_EQ(rules().DefaultDirectory(), "/host/work/project");
  EXPECT_THAT(refusal(), HasSubstr("/host/work/project/a.cc"));
  // Also a name of the guest, which the host may not have.
  for (const std::string& elsewhere : {std::string(), std::string("/elsewhere"), Guest("work")}) {
    options.working_directory = elsewhere;
    EXPECT_THAT([&] { (void)PathRules(options).DefaultDirectory(); },
                ::testing::ThrowsMessage<support::Error>(HasSubstr("/host/work (writable)")));
    EXPECT_THAT(refusal(),
                AllOf(HasSubstr("expected an absolute path"), HasSubstr("/host/work (writable)")));
  }
  options.roots.resize(1);
  EXPECT_EQ(PathRules(options).DefaultDirectory(), "/host/work");
  EXPECT_THAT(refusal(), HasSubstr("/host/work/a.cc"));
}

TEST_F(PathRulesTest, RoundTripsOnceTheRootsAreKnown) {
  (void)Resolve("/host/work/file");
  EXPECT_EQ(guest.counts(), "LStat 1, RealPath 3");
  guest.ResetCounts();
  (void)Resolve("/host/work/file");
  (void)Resolve("/host/work/new", Access::kWrite);
  EXPECT_EQ(guest.counts(), "LStat 2, RealPath 2");
  EXPECT_EQ(guest.round_trips(), 2);
}

// How to make a read-only directory writable, and how to mount one.

class ReadOnlyText : public PathRulesTest {
 protected:
  /// The text for a write to `directory`/new, where `root` is the only root.
  std::string TextFor(const Root& root, const std::vector<Root>& mounts = {}) {
    fs::create_directories(root.guest);
    options.roots = {root};
    options.mounts = mounts;
    return testing_support::ErrorOf(
        [&] { return PathRules(options).Resolve(root.host + "/new", Access::kWrite, guest, {}); });
  }
};

TEST_F(ReadOnlyText, NamesTheMountPointAsLimaComparesIt) {
  EXPECT_THAT(TextFor({.host = "/host/library", .guest = Guest("library")}),
              HasSubstr("{\"location\":\"/host/library\",\"mountPoint\":\"" + Guest("library") +
                        "\",\"writable\":true}"));
  EXPECT_THAT(TextFor({.host = "/host/library",
                       .guest = Guest("library"),
                       .written_guest = Guest("library") + "/"}),
              HasSubstr("\"mountPoint\":\"" + Guest("library") + "/\""));
}

TEST_F(ReadOnlyText, IsQuotedForTheShellAndForJson) {
  const std::string quotes = Guest("it's \"b\"");
  EXPECT_THAT(TextFor({.host = quotes, .guest = quotes}),
              HasSubstr("\"location\":\"" + Guest("it'\"'\"'s \\\"b\\\"") + "\""));
}

TEST_F(ReadOnlyText, OfANarrowedRootNamesItsMount) {
  EXPECT_THAT(TextFor({.host = Guest("library/shelf"),
                       .guest = Guest("library/shelf"),
                       .narrowed_from = Guest("library")},
                      {{.host = Guest("library"), .guest = Guest("library")}}),
              HasSubstr("\"location\":\"" + Guest("library") + "\""));
}

TEST_F(ReadOnlyText, OfAReadOnlyMountBehindAWritableRootNamesTheMount) {
  fs::create_directory_symlink(top / "library", top / "work/link");
  const auto mounts = options.roots;
  EXPECT_THAT(TextFor({.host = "/host/work/link",
                       .guest = Guest("work/link"),
                       .writable = true,
                       .narrowed_from = Guest("work")},
                      mounts),
              AllOf(HasSubstr("it lies in " + Guest("library") +
                              " (read-only). The directories are: /host/work/link (writable)"),
                    HasSubstr("\"location\":\"" + Guest("library") + "\"")));
}

TEST_F(PathRulesTest, WithoutRootsTheTextSaysHowToMountADirectory) {
  options.roots.clear();
  EXPECT_THAT(Refusal("/host/work"),
              AllOf(HasSubstr("may be used: none, as the instance mounts nothing. "),
                    HasSubstr("--start --mount DIRECTORY:w")));
}

TEST_F(PathRulesTest, LinksThatLeadOutAreRefused) {
  fs::create_directory(top / "work_sensitive");
  fs::create_symlink(top / "outside/missing/c", top / "work/next");
  struct Row {
    std::string target;  ///< of the link /host/work/link
    std::string path;
    Access access;
    std::string refusal;
  };
  const std::string outside = Guest("outside");
  for (const auto& [target, path, access, refusal] : {
           Row{outside + "/secret", "link", Access::kRead, "resolves to " + outside + "/secret"},
           Row{outside, "link/secret", Access::kRead, outside},
           Row{outside, "link", Access::kList, outside},
           Row{outside, "link/new", Access::kWrite, outside + "/new"},
           Row{outside, "link/a/b/c", Access::kWrite, outside + "/a/b/c"},
           Row{outside, "link/a/b/c", Access::kRead, outside + "/a/b/c"},
           Row{Guest("work_sensitive"), "link", Access::kRead, "outside the directories"},
           Row{outside + "/pwned", "link", Access::kWrite, outside + "/pwned"},
           Row{outside + "/a/b/pwned", "link", Access::kWrite, outside + "/a/b/pwned"},
           Row{outside + "/a/b/pwned", "link/y", Access::kWrite, outside + "/a/b/pwned/y"},
           Row{"/proc/self/root", "link" + outside + "/secret", Access::kRead, "outside"},
           Row{"missing/../file", "link", Access::kWrite, "directory that is missing"},
           Row{"link", "link", Access::kRead, "loop of symbolic links"},
           Row{"link", "link/b/c", Access::kWrite, "loop of symbolic links"},
           Row{"link/x", "link", Access::kRead, "loop of symbolic links"},
           Row{Guest("library/book"), "link", Access::kWrite, "is read-only"},
           Row{"next", "link", Access::kWrite, "outside/missing/c"},
       }) {
    fs::create_symlink(target, top / "work/link");
    EXPECT_THAT(Refusal("/host/work/" + path, access),
                AllOf(HasSubstr("/host/work/" + path), HasSubstr(refusal)))
        << target;
    fs::remove(top / "work/link");
  }
}

TEST_F(PathRulesTest, LinksWithinTheRootsAreFollowed) {
  fs::create_symlink("file", top / "work/l0");
  for (int i = 1; i <= 20; ++i) {
    fs::create_symlink("l" + std::to_string(i - 1), top / "work" / ("l" + std::to_string(i)));
  }
  EXPECT_EQ(Resolve("/host/work/l20").guest, Guest("work/file"));
  fs::create_symlink(top / "library/book", top / "work/book");
  EXPECT_EQ(Resolve("/host/work/book").guest, Guest("library/book"));

  fs::create_directory_symlink(top / "work", top / "outside/back");
  fs::create_directory_symlink(top / "outside/back", top / "work/out");
  EXPECT_EQ(Resolve("/host/work/out/file").guest, Guest("work/file"));

  fs::create_symlink("deep/er/new", top / "work/x");
  const ResolvedPath dangling = Resolve("/host/work/x", Access::kWrite);
  EXPECT_EQ(dangling.guest, Guest("work/deep/er/new"));
  EXPECT_EQ(dangling.existing_parent, Guest("work"));
  EXPECT_FALSE(dangling.attributes);
}

TEST_F(PathRulesTest, MissingFileHasItsDeepestExistingParent) {
  const ResolvedPath near = Resolve("/host/work/new", Access::kWrite);
  EXPECT_FALSE(near.attributes);
  EXPECT_EQ(near.existing_parent, Guest("work"));
  fs::create_directory(top / "work/a");
  const ResolvedPath far = Resolve("/host/work/a/b/c/d", Access::kWrite);
  EXPECT_EQ(far.guest, Guest("work/a/b/c/d"));
  EXPECT_EQ(far.existing_parent, Guest("work/a"));
}

// Changes while a path is resolved.

TEST_F(PathRulesTest, LinkSwappedInAfterTheGuestResolvedThePathIsFollowedAndRefused) {
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kLStat || path != Guest("work/file")) return;
    guest.set_hook({});
    fs::remove(top / "work/file");
    fs::create_symlink(top / "outside/secret", top / "work/file");
  });
  EXPECT_THAT(Refusal("/host/work/file"), HasSubstr("outside/secret"));
}

TEST_F(PathRulesTest, DirectoryThatAppearsMeanwhileIsFound) {
  fs::create_directory_symlink("new/", top / "work/x");
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kLStat && path == Guest("work/new")) fs::create_directory(path);
  });
  const ResolvedPath resolved = Resolve("/host/work/x");
  EXPECT_EQ(resolved.guest, Guest("work/new"));
  ASSERT_TRUE(resolved.attributes);
  EXPECT_EQ(resolved.attributes->type, guest::FileType::kDirectory);
}

TEST_F(PathRulesTest, DirectoryThatWasOpenedWhileItsPathLedElsewhereIsNotListed) {
  fs::create_directory(top / "outside/d");
  guest.set_hook([&](Operation operation, const std::string&) {
    if (operation == Operation::kOpenDirectory)
      fs::create_directory_symlink("../outside", top / "work/a");
    if (operation != Operation::kLStat || !fs::is_symlink(top / "work/a")) return;
    fs::remove(top / "work/a");
    fs::create_directories(top / "work/a/d");
  });
  const ResolvedPath resolved = Resolve("/host/work/a/d", Access::kList);
  EXPECT_EQ(resolved.guest, Guest("work/a/d"));
  EXPECT_EQ(resolved.directory, nullptr);
}

// Mounts.

TEST_F(PathRulesTest, MountPointThatIsALinkCountsResolved) {
  options.roots.push_back({.host = "/host/volume", .guest = Guest("mounted"), .writable = true});
  EXPECT_TRUE(Resolve("/host/work/file").attributes);  // the mount appears after this call
  WriteFile(top / "volumes/file", "");
  fs::create_directory_symlink(top / "volumes", top / "mounted");
  EXPECT_EQ(Resolve("/host/volume/file").guest, Guest("volumes/file"));
  EXPECT_EQ(rules().ToHost(Guest("volumes/file")), "/host/volume/file");
}

TEST_F(PathRulesTest, MountThatWasFoundThroughALinkForAWhileIsNoWayOut) {
  fs::create_directories(top / "deep/mount");
  fs::create_directory(top / "outside/mount");
  fs::create_symlink(top / "outside/mount/new", top / "work/x");
  options.roots.push_back({.host = "/host/mount", .guest = Guest("deep/mount"), .writable = true});
  fs::rename(top / "deep", top / "away");
  fs::create_directory_symlink(top / "outside", top / "deep");
  EXPECT_EQ(Resolve("/host/mount").guest, Guest("outside/mount"));
  fs::remove(top / "deep");
  fs::rename(top / "away", top / "deep");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("outside/mount/new"));
  EXPECT_EQ(Resolve("/host/mount").guest, Guest("deep/mount"));
}

TEST_F(PathRulesTest, NothingIsCreatedWhereTheMountPointIsMissing) {
  options.roots.push_back({.host = "/host/gone", .guest = Guest("no/gone"), .writable = true});
  EXPECT_THAT(Refusal("/host/gone/file", Access::kWrite), HasSubstr("missing in the guest"));
  EXPECT_FALSE(Resolve("/host/gone/file").attributes);
}

TEST_F(PathRulesTest, InnermostMountDecidesWhetherAPathIsWritable) {
  for (const char* name : {"work/vendor", "library/drafts"}) fs::create_directory(top / name);
  fs::create_directory_symlink("vendor", top / "work/alias");
  options.roots.push_back({.host = "/host/work/vendor", .guest = Guest("work/vendor")});
  options.roots.push_back(
      {.host = Guest("library/drafts"), .guest = Guest("library/drafts"), .writable = true});
  for (const char* path : {"/host/work/vendor", "/host/work/vendor/new", "/host/work/alias/new"}) {
    EXPECT_THAT(Refusal(path, Access::kWrite), HasSubstr("is read-only")) << path;
  }
  EXPECT_EQ(Resolve("/host/work/new", Access::kWrite).guest, Guest("work/new"));
  EXPECT_EQ(Resolve(Guest("library/drafts/new"), Access::kWrite).guest,
            Guest("library/drafts/new"));
}

TEST_F(PathRulesTest, OfTwoNamesOfOneDirectoryTheReadOnlyOneCounts) {
  fs::create_directory_symlink(top / "library", top / "shelf");
  options.roots.push_back({.host = "/shelf", .guest = Guest("shelf"), .writable = true});
  EXPECT_THAT(Refusal("/shelf/book", Access::kWrite), HasSubstr("read-only"));
  std::swap(options.roots[1], options.roots[2]);
  const PathRules swapped(options);
  EXPECT_THROW((void)swapped.Resolve("/shelf/book", Access::kWrite, guest, {}), support::Error);
}

// Roots that are not whole mounts.

class NarrowedRootTest : public PathRulesTest {
 protected:
  void Narrow(const std::string& name) {
    options.mounts = options.roots;
    options.roots = {{.host = "/host/work/" + name,
                      .guest = Guest("work/" + name),
                      .writable = true,
                      .narrowed_from = Guest("work")}};
  }
  std::string CheckError() {
    return testing_support::ErrorOf([this] { rules().CheckRoots(guest, {}); });
  }
};

TEST_F(NarrowedRootTest, ThatIsALinkOutOfItsMountIsRefused) {
  Narrow("project");
  fs::create_directory_symlink(top / "outside", top / "work/project");
  EXPECT_THAT(CheckError(), AllOf(HasSubstr("resolves to " + Guest("outside")),
                                  HasSubstr("outside the mount " + Guest("work"))));
}

TEST_F(NarrowedRootTest, OverWhichAnotherMountLiesIsRefused) {
  options.roots.push_back({.host = "/srv/copy", .guest = Guest("work/sub"), .writable = true});
  fs::create_directories(top / "work/sub/project");
  Narrow("sub/project");
  EXPECT_THAT(CheckError(), AllOf(HasSubstr("--root /host/work/sub/project"),
                                  ::testing::EndsWith("give /srv/copy/project")));
}

TEST_F(NarrowedRootTest, ThatIsALinkHasTheRightsOfTheMountItResolvesTo) {
  fs::create_directories(top / "work/vendor");
  fs::create_directory_symlink(top / "work/vendor", top / "work/link");
  options.roots.push_back({.host = "/host/work/vendor", .guest = Guest("work/vendor")});
  Narrow("link");
  EXPECT_TRUE(Resolve("/host/work/link").attributes);
  EXPECT_THAT(Refusal("/host/work/link/new", Access::kWrite), HasSubstr("read-only"));
}

// Errors of the guest.

TEST_F(PathRulesTest, ErrorOfTheGuestNamesTheHostsPath) {
  guest.set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kRealPath) {
      throw guest::FileError(guest::FileErrorCode::kFailure, "realpath", path, "");
    }
  });
  EXPECT_THAT(Refusal("/host/work/file"),
              AllOf(HasSubstr("resolve /host/work/file: failure"), Not(HasSubstr(Guest("work")))));
}

TEST_F(PathRulesTest, ProtectedSettingIsReadButNotWritten) {
  WriteFile(top / "work/.idea/settings.json", "{}");
  EXPECT_THAT(Refusal("/host/work/.idea/settings.json", Access::kWrite),
              AllOf(HasSubstr("/host/work/.idea/settings.json"), HasSubstr("--allow-settings")));
  EXPECT_EQ(
      Refusal("/host/work/a/.envrc", Access::kWrite),
      "/host/work/a/.envrc is not written by the file tools, because direnv on the host obeys "
      "it (a shell script). Ask the user to edit it there, or to start the server with "
      "--allow-settings.");
  EXPECT_THAT(Refusal("/host/work/missing/.helix/config.toml", Access::kWrite),
              HasSubstr("--allow-settings"));
  EXPECT_EQ(Resolve("/host/work/.idea/settings.json").guest, Guest("work/.idea/settings.json"));
}

TEST_F(PathRulesTest, SettingsOfABareRepositoryAreNotWritten) {
  fs::create_directories(top / "work/bare/hooks");
  fs::create_directory_symlink("bare", top / "work/innocent");
  WriteFile(top / "work/bare/HEAD", "ref: refs/heads/main");
  for (const char* name : {"config", "Config", "config.worktree", "commondir", "hooks/pre-commit",
                           "info/attributes", "objects/info/alternates", "sub/../config"}) {
    EXPECT_THAT(Refusal("/host/work/bare/" + std::string(name), Access::kWrite),
                AllOf(HasSubstr("git"), HasSubstr("--allow-settings")));
  }
  EXPECT_THAT(Refusal("/host/work/innocent/config", Access::kWrite), HasSubstr("git"));
  EXPECT_NO_THROW(Resolve("/host/work/bare/description", Access::kWrite));
  EXPECT_NO_THROW(Resolve("/host/work/bare/config"));
}

TEST_F(PathRulesTest, OnlyNamesOfABareRepositoryCostAFurtherRoundTrip) {
  fs::create_directories(top / "work/hooks");
  fs::create_directories(top / "work/src/config");
  Resolve("/host/work/file");
  guest.ResetCounts();
  Resolve("/host/work/hooks/file", Access::kWrite);
  EXPECT_EQ(guest.counts(), "LStat 2, RealPath 1") << "HEAD beside hooks";
  EXPECT_EQ(guest.round_trips(), 2);
  guest.ResetCounts();
  Resolve("/host/work/src/config/file", Access::kWrite);
  EXPECT_EQ(guest.round_trips(), 1);
}

TEST_F(PathRulesTest, ProtectedSettingIsNotWrittenThroughALinkNorAsOne) {
  fs::create_directories(top / "work/.idea");
  fs::create_symlink(".idea", top / "work/innocent");
  fs::create_directory(top / "work/shared");
  fs::create_symlink("shared", top / "work/.helix");
  for (const char* path : {"/host/work/innocent/tasks.json", "/host/work/.helix/config.toml"}) {
    EXPECT_THAT(Refusal(path, Access::kWrite), HasSubstr("--allow-settings"));
  }
}

TEST_F(PathRulesTest, ProtectedSettingIsWrittenIfTheUserAllowsItOrTheDirectoryIsTheGuestsOwn) {
  options.allow_settings = true;
  EXPECT_EQ(Resolve("/host/work/.envrc", Access::kWrite).guest, Guest("work/.envrc"));
  options.allow_settings = false;
  options.roots[0].is_guests_own = true;
  const PathRules own(options);
  EXPECT_NO_THROW((void)own.Resolve("/host/work/.envrc", Access::kWrite, guest, {}));
}

}  // namespace
}  // namespace paths
