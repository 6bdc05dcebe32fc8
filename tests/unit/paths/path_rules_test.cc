// Names of a path, and the default directory.

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

}  // namespace
}  // namespace paths
