#include "support/paths.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace support {
namespace {

// From the documentation and tests of Go's path/filepath.Clean.
TEST(CleanPath, GivesTheShortestName) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "."},          {".", "."},
      {"/", "/"},         {"//", "/"},
      {"/a/", "/a"},      {"//a//b", "/a/b"},
      {"/a/./b", "/a/b"}, {"/a/../b", "/b"},
      {"/..", "/"},       {"/../a", "/a"},
      {"a/..", "."},      {"..", ".."},
      {"../..", "../.."}, {"a/../../b", "../b"},
      {"./a", "a"},       {"/a/..b", "/a/..b"},
      {"~/", "~"},        {"/a b /c ", "/a b /c "}};
  for (const auto& [given, clean] : cases) EXPECT_EQ(CleanPath(given), clean) << given;
}

TEST(PathBelow, TakesWholeComponentsOnly) {
  EXPECT_EQ(PathBelow("/a/b/c", "/a/b"), "c");
  EXPECT_EQ(PathBelow("/a/b", "/a/b"), "");
  EXPECT_EQ(PathBelow("/a/bc", "/a/b"), std::nullopt);
  EXPECT_EQ(PathBelow("/a", "/a/b"), std::nullopt);
  EXPECT_EQ(PathBelow("/a/..foo", "/a"), "..foo");
  EXPECT_EQ(PathBelow("/a/b", "/"), "a/b");
  EXPECT_EQ(PathBelow("/", "/"), "");
}

TEST(JoinPath, PutsOneSlashBetween) {
  EXPECT_EQ(JoinPath("/a", "b/c"), "/a/b/c");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(JoinPath("/a", ""), "/a");
}

TEST(ParentPath, StandsBeforeTheLastComponentAndEndsAtTheRootDirectory) {
  for (const auto& [path, parent, last] :
       {std::tuple("/a/b", "/a", "b"), std::tuple("/a", "/", "a"), std::tuple("/", "/", "")}) {
    EXPECT_EQ(ParentPath(path), parent);
    EXPECT_EQ(LastComponent(path), last);
  }
}

}  // namespace
}  // namespace support
