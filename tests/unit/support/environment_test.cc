#include "support/environment.h"

#include <gmock/gmock.h>

namespace support {
namespace {

TEST(Environment, VariablesAreUnsetByNameAndByPrefixAndSet) {
  const Environment before = {{"A", "1"}, {"AB", "2"}, {"B_C", "3"}, {"B", "4"}, {"E", ""}};
  EXPECT_EQ(Changed(before, "A B_*"), (Environment{{"AB", "2"}, {"B", "4"}, {"E", ""}}));
  EXPECT_EQ(Changed(before, "A* B* +AB +B_* +X"), Changed(before, "A B"));
  EXPECT_EQ(Changed(before, "A* B* A=x=y E="), (Environment{{"A", "x=y"}, {"E", ""}}));
  EXPECT_EQ(Value(before, "E", "x"), "x");
}

TEST(DirectoryOr, IgnoresRelativePaths) {
  const Environment environment = {{"A", "/a"}, {"B", "b"}, {"HOME", "/home/me"}};
  EXPECT_EQ(DirectoryOr(environment, "A", "/x"), "/a");
  EXPECT_EQ(DirectoryOr(environment, "B", "/x"), "/x");
  EXPECT_EQ(ConfigHome(environment), "/home/me/.config");
}

}  // namespace
}  // namespace support
