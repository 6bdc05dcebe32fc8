#include <gtest/gtest.h>

#include "agents/confined_agent.h"

namespace agents {
namespace {

TEST(Version, IsFoundInWhatAgentsPrint) {
  EXPECT_EQ(ParseVersion("2.1.330 (Claude Code)"), (Version{2, 1, 330}));
  EXPECT_EQ(ParseVersion("codex-cli 0.169.0\n"), (Version{0, 169, 0}));
  EXPECT_EQ(ParseVersion("1.18.33"), (Version{1, 18, 33}));
  EXPECT_EQ(ParseVersion("1.18.33-beta.1"), (Version{1, 18, 33}));
}

TEST(Version, IsNotFoundElsewhere) {
  for (const char* text : {"", "no version", "1.2", "1", "99999999999.0.0", "1.2."}) {
    EXPECT_FALSE(ParseVersion(text)) << text;
  }
}

TEST(Version, OfALaterReleaseIsLarger) {
  EXPECT_LT((Version{2, 1, 99}), (Version{2, 1, 330}));
  EXPECT_LT((Version{0, 160, 0}), (Version{1, 0, 0}));
  EXPECT_EQ(ToString({2, 1, 330}), "2.1.330");
}

}  // namespace
}  // namespace agents
