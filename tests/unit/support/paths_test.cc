#include "support/paths.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace support
