#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/guest_checks.h"

namespace doctor {
namespace {

using ::testing::HasSubstr;

TEST(CopyChecks, PassWithWhatACopyNeeds) {
  const Finding finding =
      CheckCopies({"/p", "/q"}, {"git version 2.34.0", "git version 2.30.2", true, "1024"});
  EXPECT_EQ(finding.result, Result::kPassed);
  EXPECT_EQ(finding.text, "copies of /p, /q");
}

TEST(CopyChecks, WarnOfWhatIsMissing) {
  const std::string good = "git version 2.39.5";
  const std::vector<std::pair<CopyNeeds, const char*>> cases = {
      {{"git version 2.33.8", good, true, "9999"}, "git 2.34 or newer on this host"},
      {{"", good, true, "9999"}, "git 2.34 or newer on this host"},
      {{good, "git version 2.29.3", true, "9999"}, "git 2.30 or newer in the guest"},
      {{good, "", true, "9999"}, "git 2.30 or newer in the guest"},
      {{good, good, false, "9999"}, "sudo wants a password"},
      {{good, good, true, "1023"}, "disk space"}};
  for (const auto& [needs, text] : cases) {
    const Finding finding = CheckCopies({}, needs);
    EXPECT_EQ(finding.result, Result::kWarning);
    EXPECT_THAT(finding.text, HasSubstr(text));
    EXPECT_NE(finding.advice, "");
  }
}

}  // namespace
}  // namespace doctor
