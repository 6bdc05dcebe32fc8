#include "support/version.h"

#include <gmock/gmock.h>

namespace support {
namespace {

TEST(Release, IsTheFirstOneInTheText) {
  EXPECT_EQ(ParseRelease("2.1.330 (Claude Code)"), (Release{2, 1, 330}));
  EXPECT_EQ(ParseRelease("codex-cli 0.169.0\n"), (Release{0, 169, 0}));
  EXPECT_EQ(ParseRelease("1.18.33-beta.1"), (Release{1, 18, 33}));
  for (const char* text : {"", "no version", "1.2", "1", "99999999999.0.0", "1.2."}) {
    EXPECT_FALSE(ParseRelease(text)) << text;
  }
  EXPECT_LT((Release{2, 1, 99}), (Release{2, 1, 330}));
  EXPECT_LT((Release{0, 160, 0}), (Release{1, 0, 0}));
  EXPECT_EQ(ToString({2, 1, 330}), "2.1.330");
}

}  // namespace
}  // namespace support
