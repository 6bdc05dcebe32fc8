#include "connection/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testing/temporary_directory.h"

namespace connection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// An instance that has never been started: limactl writes its ssh.config then.
class InstructionsTest : public ::testing::Test {
 protected:
  InstructionsTest() {
    options_.lima_home = directory_.path();
    options_.name = "agent";
    std::filesystem::create_directory(directory_.path() / "agent");
  }
  void Configure(const std::string& text) const {
    std::ofstream(directory_.path() / "agent/lima.yaml") << text;
  }

  testing_support::TemporaryDirectory directory_;
  InstanceOptions options_;
};

TEST_F(InstructionsTest, ListTheRootsOfAnInstanceThatHasNeverBeenStarted) {
  Configure("mounts: [{location: /work, mountPoint: /mnt, writable: true}, {location: /docs}]\n");
  EXPECT_THAT(Instructions(options_),
              AllOf(HasSubstr("the Lima virtual machine \"agent\" (Linux), not on the host"),
                    HasSubstr("\n- /work (writable), which is /mnt in the guest\n"),
                    HasSubstr("\n- /docs (read-only)")));
}

TEST_F(InstructionsTest, ListOnlyTheRootsThatServeWasToldToAllow) {
  Configure("mounts: [{location: /work}, {location: /docs}]\n");
  options_.roots.narrowed_roots = {{"/work/a"}};
  EXPECT_THAT(Instructions(options_),
              AllOf(HasSubstr("\n- /work/a (read-only)"), Not(HasSubstr("/docs"))));
}

TEST_F(InstructionsTest, SayThatNothingIsMounted) {
  Configure("mounts: []\n");
  EXPECT_THAT(Instructions(options_), HasSubstr("mounts no directory"));
}

TEST_F(InstructionsTest, SayWhyTheToolsCannotBeUsed) {
  Configure("mounts: [\n");
  EXPECT_THAT(Instructions(options_),
              AllOf(HasSubstr("the Lima virtual machine \"agent\", not on the host"),
                    HasSubstr("cannot be used now: "),
                    HasSubstr((directory_.path() / "agent/lima.yaml").string())));
}

}  // namespace
}  // namespace connection
