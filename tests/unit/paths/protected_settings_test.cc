// Settings that programs on the host read, and the file tools do not write.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(PathRulesTest, ProtectedSettingIsReadButNotWritten) {
  fs::create_directory(top / "work/.idea");
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
