#include "doctor/copy_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

using ::testing::HasSubstr;

class CopyChecks : public ::testing::Test {
 protected:
  /// With a host's git that prints `version`.
  Finding Check(const std::string& version, const CopyGuest& guest) {
    const auto git = directory_.path() / "git";
    testing_support::WriteFile(git, "#!/bin/sh\necho '" + version + "'\n");
    std::filesystem::permissions(git, std::filesystem::perms::owner_all);
    return CheckCopies({"/p", "/q"}, git, guest,
                       support::Context().WithTimeout(std::chrono::seconds(60)));
  }

 private:
  testing_support::TemporaryDirectory directory_;
};

TEST_F(CopyChecks, PassWithWhatACopyNeeds) {
  const Finding finding = Check("git version 2.34.0", {"git version 2.30.2", true, "1024"});
  EXPECT_EQ(finding.result, Result::kPassed);
  EXPECT_EQ(finding.text, "copies of /p, /q");
}

TEST_F(CopyChecks, WarnOfWhatIsMissing) {
  struct Case {
    const char* git;
    CopyGuest guest;
    const char* text;
  };
  const std::string good = "git version 2.39.5";
  for (const Case& one : std::vector<Case>{
           {"git version 2.33.8", {good, true, "9999"}, "git 2.34 or newer on this host"},
           {good.c_str(), {"git version 2.29.3", true, "9999"}, "git 2.30 or newer in the guest"},
           {good.c_str(), {"", true, "9999"}, "git 2.30 or newer in the guest"},
           {good.c_str(), {good, false, "9999"}, "sudo wants a password"},
           {good.c_str(), {good, true, "1023"}, "disk space"}}) {
    const Finding finding = Check(one.git, one.guest);
    EXPECT_EQ(finding.result, Result::kWarning);
    EXPECT_THAT(finding.text, HasSubstr(one.text)) << one.text;
    EXPECT_NE(finding.advice, "");
  }
}

}  // namespace
}  // namespace doctor
