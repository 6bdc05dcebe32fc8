// Names of a path, the default directory, and the texts of refusals.

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
using ::testing::Not;

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
  fs::create_directory(top / "work/inner");
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
  fs::create_directory(top / "work/inner");
  WriteFile(top / "work/inner/file", "");
  options.mounts = options.roots;
  options.mounts.push_back({.host = "/link/to/inner",
                            .guest = Guest("work/inner"),
                            .resolved_host = "/host/work/inner"});
  EXPECT_EQ(Resolve("/host/work/inner/file").guest, Guest("work/inner/file"));
}

TEST_F(PathRulesTest, LongestRootCounts) {
  fs::create_directory(top / "inner");
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

TEST_F(PathRulesTest, NamesAreBytes) {
  for (const std::string name :
       {"..foo", "%2e%2e", "~", "two words ", "dot.", "line\nbreak", "$(id)", "\u00e9"}) {
    WriteFile(top / "work" / name, "");
    EXPECT_EQ(Resolve("/host/work/" + name).guest, Guest("work/" + name));
  }
  EXPECT_FALSE(Resolve("/host/work/e\u0301").attributes) << "another spelling, another name";
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

TEST_F(PathRulesTest, SeveralRootsWithoutAWorkingDirectoryHaveNoDefault) {
  for (const char* elsewhere : {"", "/somewhere/else"}) {
    options.working_directory = elsewhere;
    const PathRules without(options);
    EXPECT_THAT([&] { (void)without.DefaultDirectory(); },
                ::testing::ThrowsMessage<support::CallError>(HasSubstr("/host/work (writable)")));
  }
  options.working_directory = Guest("work");  // a name of the guest, which the host may not have
  EXPECT_THROW((void)rules().DefaultDirectory(), support::CallError);
  EXPECT_THAT(Refusal("a.cc"),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr("/host/work (writable)")));
}

TEST_F(PathRulesTest, WorkingDirectoryUnderARootIsTheDefault) {
  options.working_directory = "/host/work/project";
  EXPECT_EQ(rules().DefaultDirectory(), "/host/work/project");
  EXPECT_THAT(Refusal("src/../a.cc"), HasSubstr("/host/work/project/a.cc"));
}

TEST_F(PathRulesTest, OnlyRootIsTheDefaultElsewhere) {
  options.roots.resize(1);
  options.working_directory = "/somewhere/else";
  EXPECT_EQ(rules().DefaultDirectory(), "/host/work");
  EXPECT_THAT(Refusal("src/a.cc"),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr("/host/work/src/a.cc")));
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
    try {
      (void)PathRules(options).Resolve(root.host + "/new", Access::kWrite, guest, {});
      return "no error";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }
};

TEST_F(ReadOnlyText, NamesThePathTheRootsAndTheCommands) {
  EXPECT_THAT(Refusal(Guest("library/book"), Access::kWrite),
              AllOf(HasSubstr(Guest("library/book") + " is read-only"),
                    HasSubstr("/host/work (writable), " + Guest("library") + " (read-only)"),
                    HasSubstr("`limactl stop default`, then `limactl edit default --start --set "
                              "'.mounts += [{\"location\":\"" +
                              Guest("library") + "\",\"mountPoint\":\"" + Guest("library") +
                              "\",\"writable\":true}]'`"),
                    Not(HasSubstr("--mount-only"))));
}

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

TEST_F(ReadOnlyText, OfAnAllowedPathNamesItsOption) {
  EXPECT_THAT(
      TextFor({.host = Guest("library"), .guest = Guest("library"), .is_guests_own = true}),
      AllOf(HasSubstr("--allow-path " + Guest("library") + ":w"), Not(HasSubstr("limactl edit"))));
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

}  // namespace
}  // namespace paths
