// What the tools do if mounts are missing in the guest.

#include "paths/mount_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "unit/tools/mount_check_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(MountCheckTest, EveryToolRefusesAMountThatIsNotMountedAndSaysWhatToDo) {
  check->states[kWork].mounted = false;
  Put("work/there", "what lies beneath");
  const std::map<std::string, json> calls = {
      {"glob", {{"pattern", "*"}, {"path", "/host/work"}}},
      {"list_directory", {{"path", "/host/work"}}},
      {"read_file", {{"path", "/host/work/there"}}},
      {"replace", {{"path", "/host/work/there"}, {"old_string", "lies"}, {"new_string", "is"}}},
      {"run_shell_command", {{"command", {"true"}}, {"directory", "/host/work"}}},
      {"search_file_content", {{"pattern", "x"}, {"path", "/host/work"}}},
      {"write_file", {{"path", "/host/work/new"}, {"content", "lost"}}},
  };
  for (const auto& [tool, arguments] : calls) {
    EXPECT_THAT(Error(tool, arguments),
                AllOf(HasSubstr("it is not mounted in the guest"),
                      HasSubstr("limactl stop default"), HasSubstr("limactl start default")))
        << tool;
  }
  EXPECT_THAT(Error("glob", {{"pattern", "*"}}), HasSubstr("not mounted")) << "the default path";
  EXPECT_EQ(Files("work"), std::set<std::string>{"there"});
}

TEST_F(MountCheckTest, MissingMountIsRefusedUnderItsGuestNameAndWithoutItsDirectoryToo) {
  check->states[kWork].mounted = false;
  EXPECT_THAT(Error("list_directory", {{"path", (top / "work").string()}}),
              HasSubstr("not mounted"));
  fs::remove_all(top / "work");
  EXPECT_THAT(Error("read_file", {{"path", "/host/work/a/b"}}), HasSubstr("not mounted"));
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/a"}, {"content", ""}}),
              HasSubstr("not mounted"));
}

TEST_F(MountCheckTest, NestedMountsAreCheckedOneByOne) {
  Put("work/inner/a", "inner");
  Put("work/a", "outer");
  check->states[kWork].mounted = false;
  EXPECT_EQ(Content({{"path", "/host/inner/a"}}), "inner");
  EXPECT_EQ(Content({{"path", (top / "work/inner/a").string()}}), "inner");
  check->states[kWork].mounted = true;
  check->states[kInner].mounted = false;
  EXPECT_EQ(Content({{"path", "/host/work/a"}}), "outer");
  EXPECT_THAT(Error("write_file", {{"path", (top / "work/inner/a").string()}, {"content", ""}}),
              HasSubstr(": /host/inner (at "));
}

TEST_F(MountCheckTest, SearchFromAboveSaysWhatMountIsMissing) {
  const auto left_out = ElementsAre(
      AllOf(HasSubstr("leaves out /host/inner (at "), HasSubstr("not mounted in the guest")));
  const std::map<std::string, json> from_above = {{"glob", {{"pattern", "**"}}},
                                                  {"search_file_content", {{"pattern", "x"}}}};
  for (const auto& [tool, arguments] : from_above) {
    EXPECT_THAT(Notes(tool, arguments), IsEmpty()) << tool;
    check->states[kInner].mounted = false;
    EXPECT_THAT(Notes(tool, arguments), left_out) << tool;
    fs::create_directory(top / "work/beside");
    json beside = arguments;
    beside["path"] = "/host/work/beside";
    EXPECT_THAT(Notes(tool, beside), IsEmpty()) << tool;
    check->states[kInner].mounted = true;
  }
}

TEST_F(MountCheckTest, LinkIntoAMountThatIsNotMountedIsRefused) {
  check->states[kInner].mounted = false;
  fs::create_symlink(top / "work/inner", top / "local/link");
  EXPECT_THAT(Error("write_file", {{"path", (top / "local/link/a").string()}, {"content", ""}}),
              HasSubstr(": /host/inner (at "));
  EXPECT_THAT(Files("work"), IsEmpty());
}

TEST_F(MountCheckTest, RootThatIsNoMountIsNeverChecked) {
  for (paths::MountState& state : check->states) state.mounted = false;
  Call("write_file", {{"path", (top / "local/a").string()}, {"content", "text"}});
  EXPECT_EQ(Content({{"path", (top / "local/a").string()}}), "text");
  EXPECT_EQ(check->checked, 0);
}

TEST_F(MountCheckTest, NarrowedRootBelongsToItsMountAndWorksOnceThatAppears) {
  fs::create_directory(top / "work/sub");
  options_.roots = {{.host = "/host/work/sub",
                     .guest = top / "work/sub",
                     .writable = true,
                     .narrowed_from = top / "work"}};
  UseRules(options_);
  check->states[kWork].mounted = false;
  EXPECT_THAT(Error("write_file", {{"path", "/host/work/sub/a"}, {"content", ""}}),
              HasSubstr(": /host/work (at "));
  check->states[kWork].mounted = true;
  Call("write_file", {{"path", "/host/work/sub/a"}, {"content", "text"}});
  EXPECT_EQ(Get("work/sub/a"), "text");
}

TEST_F(MountCheckTest, OnlyWritesCheckAMountThatDoesNotVanishByItself) {
  const auto checks = [this](const std::string& tool, const json& arguments) {
    check->checked = 0;
    Call(tool, arguments);
    return check->checked;
  };
  for (const bool may_vanish : {false, true}) {
    check->states[kWork].may_vanish = may_vanish;
    EXPECT_EQ(checks("write_file", {{"path", "/host/work/a"}, {"content", "text"}}), 1);
    EXPECT_EQ(checks("read_file", {{"path", "/host/work/a"}}), may_vanish ? 1 : 0);
    EXPECT_EQ(checks("list_directory", {{"path", "/host/work"}}), may_vanish ? 1 : 0);
  }
}

}  // namespace
}  // namespace tools
