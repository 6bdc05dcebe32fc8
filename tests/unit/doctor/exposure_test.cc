#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "doctor/host_checks.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExposureTest : public ::testing::Test {
 protected:
  ExposureTest() {
    for (const char* name : {"home/.ssh", "home/.aws", "home/.claude", "home/project/sub"}) {
      fs::create_directories(top_ / name);
    }
    configuration_.name = "vm";
    configuration_.forwards_ports = false;
  }

  [[nodiscard]] Exposure Find(const std::string& mount, bool writable = false,
                              const std::string& type = "9p") const {
    lima::Mount it;
    it.location = top_ / mount;
    it.writable = writable;
    it.type = type;
    it.enforces_read_only = true;
    return FindExposure(configuration_, {it}, top_ / "home/project", {{"HOME", top_ / "home"}});
  }

  testing_support::TemporaryDirectory directory_;
  fs::path top_ = fs::canonical(directory_.path());
  lima::InstanceConfiguration configuration_;
};

TEST_F(ExposureTest, OfTheProjectAloneIsNone) {
  EXPECT_THAT(Find("home/project", true).rest, IsEmpty());
  EXPECT_EQ(CheckExposure(Find("home/project", true)).result, Result::kPassed);
}

TEST_F(ExposureTest, NamesSecretsThatTheGuestCanRead) {
  EXPECT_THAT(Find("home").rest, ElementsAre(HasSubstr("read your home directory")));
  EXPECT_THAT(Find("home/.ssh").rest,
              ElementsAre(HasSubstr("read " + (top_ / "home/.ssh").string())));
  EXPECT_THAT(Find("home/.claude").rest, ElementsAre(HasSubstr("/.claude")));
}

TEST_F(ExposureTest, NamesAWritableMountThatIsWiderThanTheProject) {
  EXPECT_THAT(Find("home", true).rest, Contains(HasSubstr("more than the project")));
  EXPECT_THAT(Find("home/project/sub", true).rest, IsEmpty());
}

TEST_F(ExposureTest, NamesWhatIsForwarded) {
  configuration_.forwards_agent = true;
  configuration_.forwards_ports = true;
  EXPECT_THAT(Find("home/project").rest,
              ElementsAre(HasSubstr("forwardAgent"), HasSubstr("portForwards")));
  const Finding finding = CheckExposure(Find("home/project"));
  EXPECT_EQ(finding.result, Result::kWarning);
  EXPECT_THAT(finding.advice, HasSubstr("--mount-only \"$PWD:w\""));
}

TEST_F(ExposureTest, OfReverseSshfsIsTheWholeHost) {
  EXPECT_EQ(Find("home/project").escape, "");
  EXPECT_THAT(Find("home/project", false, "reverse-sshfs").escape, HasSubstr("limactl edit vm"));
}

}  // namespace
}  // namespace doctor
