#include "support/paths.h"

#include <gtest/gtest.h>

#include <optional>

namespace support {
namespace {

struct Case {
  const char* given;
  const char* clean;
};

class CleanPathCases : public testing::TestWithParam<Case> {};

// From the documentation and tests of Go's path/filepath.Clean.
INSTANTIATE_TEST_SUITE_P(Table, CleanPathCases,
                         testing::Values(Case{"", "."}, Case{".", "."}, Case{"/", "/"},
                                         Case{"//", "/"}, Case{"/a/", "/a"}, Case{"//a//b", "/a/b"},
                                         Case{"/a/./b", "/a/b"}, Case{"/a/../b", "/b"},
                                         Case{"/..", "/"}, Case{"/../a", "/a"}, Case{"a/..", "."},
                                         Case{"..", ".."}, Case{"../..", "../.."},
                                         Case{"a/../../b", "../b"}, Case{"./a", "a"},
                                         Case{"/a/..b", "/a/..b"}, Case{"~/", "~"},
                                         Case{"/a b /c ", "/a b /c "}));

TEST_P(CleanPathCases, GivesTheShortestName) {
  EXPECT_EQ(CleanPath(GetParam().given), GetParam().clean);
}

TEST(PathBelow, TakesWholeComponentsOnly) {
  EXPECT_EQ(PathBelow("/a/b/c", "/a/b"), "c");
  EXPECT_EQ(PathBelow("/a/b", "/a/b"), "");
  EXPECT_EQ(PathBelow("/a/bc", "/a/b"), std::nullopt);
  EXPECT_EQ(PathBelow("/a", "/a/b"), std::nullopt);
  EXPECT_EQ(PathBelow("/a/..foo", "/a"), "..foo");
}

TEST(PathBelow, EverythingIsUnderTheRootDirectory) {
  EXPECT_EQ(PathBelow("/a/b", "/"), "a/b");
  EXPECT_EQ(PathBelow("/", "/"), "");
}

TEST(JoinPath, PutsOneSlashBetween) {
  EXPECT_EQ(JoinPath("/a", "b/c"), "/a/b/c");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(JoinPath("/a", ""), "/a");
}

TEST(ParentPath, EndsAtTheRootDirectory) {
  EXPECT_EQ(ParentPath("/a/b"), "/a");
  EXPECT_EQ(ParentPath("/a"), "/");
  EXPECT_EQ(ParentPath("/"), "/");
}

TEST(LastComponent, IsWhatFollowsTheLastSlash) {
  EXPECT_EQ(LastComponent("/a/b"), "b");
  EXPECT_EQ(LastComponent("/a"), "a");
  EXPECT_EQ(LastComponent("/"), "");
}

}  // namespace
}  // namespace support
