// SPDX-License-Identifier: Apache-2.0
#include "exposure/guest_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A writable mount "project" and a read-only one "library".
class GuestReachTest : public ::testing::Test {
 protected:
  GuestReachTest() {
    for (const char* name : {"project/bin", "library", "home", "bin"}) {
      fs::create_directories(top_ / name);
    }
  }

  [[nodiscard]] std::string Path(const std::string& name) const { return top_ / name; }
  fs::path Link(const std::string& name, const fs::path& target) const {
    fs::create_symlink(target, top_ / name);
    return top_ / name;
  }
  [[nodiscard]] GuestReach Reach(GuestReach::Access access = GuestReach::Access::kWriting) const {
    lima::Mount project;
    project.location = Path("project");
    project.writable = true;
    lima::Mount library;
    library.location = Path("library");
    library.enforces_read_only = enforces_read_only_;
    return GuestReach({project, library}, access);
  }

  testing_support::TemporaryDirectory directory_;
  fs::path top_ = fs::canonical(directory_.path());
  bool enforces_read_only_ = true;
};

TEST_F(GuestReachTest, HoldsWhatIsInAWritableMount) {
  EXPECT_EQ(Reach().MountHolding(Path("project/a/b")), Path("project"));
  EXPECT_EQ(Reach().MountHolding(Path("project")), Path("project"));
  EXPECT_FALSE(Reach().MountHolding(Path("projects")));
  EXPECT_FALSE(Reach().MountHolding(Path("library/a")));
  EXPECT_TRUE(Reach(GuestReach::Access::kReading).MountHolding(Path("library/a")));
  EXPECT_EQ(Reach().MountHoldingOrBelow(top_), Path("project"));
  EXPECT_FALSE(Reach().MountHoldingOrBelow(Path("home")));
}

TEST_F(GuestReachTest, HoldsAReadOnlyMountThatOnlyTheGuestKeepsReadOnly) {
  enforces_read_only_ = false;
  EXPECT_EQ(Reach().MountHolding(Path("library/a")), Path("library"));
}

TEST_F(GuestReachTest, HoldsWhatALinkReachesThroughAMount) {
  EXPECT_TRUE(Reach().MountHolding(Link("home/direct", "../project/a")));
  EXPECT_TRUE(Reach().MountHolding(Link("home/chain", Path("home/direct"))));
  Link("project/out", Path("home"));
  EXPECT_TRUE(Reach().MountHolding(Link("home/through", Path("project/out"))))
      << "the guest's link";
  EXPECT_TRUE(Reach().MountHolding(Link("home/above", Path("project")) / "new/file"));
  EXPECT_FALSE(Reach().MountHolding(Link("home/fine", "../bin/../home")));
  EXPECT_FALSE(Reach().MountHolding(Link("home/loop", "loop")));
}

TEST_F(GuestReachTest, IsNamedInTextsAndLists) {
  const std::string project = Path("project");
  Link("home/link", project);
  for (const std::string& text : {project, project + "/a", "/usr/bin:" + project + "/bin",
                                  "vim -u " + project + "/rc", "-javaagent:" + project + "/a.jar,x",
                                  "file://" + project + "/a", "/bin:" + Path("home/link/x")}) {
    EXPECT_TRUE(Reach().IsNamedIn(text)) << text;
  }
  for (const std::string& text : {std::string(), std::string("a"), project + "s", Path("home")}) {
    EXPECT_FALSE(Reach().IsNamedIn(text)) << text;
  }
}

TEST_F(GuestReachTest, FindsNoProgramThatTheGuestCanWrite) {
  const auto program = [&](const std::string& name) {
    std::ofstream(top_ / name) << "#!/bin/sh\n";
    fs::permissions(top_ / name, fs::perms::owner_all);
  };
  program("project/bin/limactl");
  const std::string planted = "relative:" + Path("project/bin") + "::";
  EXPECT_EQ(Reach().SafeSearchPath(planted + Path("bin")), Path("bin"));
  EXPECT_EQ(Reach().SafeSearchPath(planted), "/usr/bin:/bin");
  program("bin/limactl");
  EXPECT_EQ(Reach().FindProgram("limactl", planted + Path("bin")), Path("bin/limactl"));
  fs::remove(top_ / "bin/limactl");
  EXPECT_FALSE(Reach().FindProgram("limactl", planted + Path("bin")));
  Link("bin/limactl", Path("project/bin/limactl"));
  EXPECT_THAT([&] { (void)Reach().FindProgram("limactl", Path("bin")); },
              ThrowsMessage<support::Error>(HasSubstr("which the guest can write")));
}

}  // namespace
}  // namespace exposure
