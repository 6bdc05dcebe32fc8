#include "paths/directory_index.h"

#include <gtest/gtest.h>

namespace paths {
namespace {

std::string Find(const DirectoryIndex& index, const std::string& path) {
  const auto match = index.Find(path);
  return match ? std::to_string(match->value) + ":" + match->rest : "none";
}

TEST(DirectoryIndex, FindsTheDeepestDirectoryOnWholeComponents) {
  DirectoryIndex index;
  EXPECT_EQ(Find(index, "/a"), "none");
  index.Add("/a", 0);
  index.Add("/a/b", 1);
  index.Add("/a/b", 2);
  index.Add("/c", 3);
  EXPECT_EQ(Find(index, "/a"), "0:");
  EXPECT_EQ(Find(index, "/a/bc/d"), "0:bc/d");
  EXPECT_EQ(Find(index, "/a/b/c/d"), "1:c/d");
  EXPECT_EQ(Find(index, "/cd"), "none");
  index.Add("/", 4);
  EXPECT_EQ(Find(index, "/cd"), "4:cd");
  EXPECT_EQ(Find(index, "/c"), "3:");
}

}  // namespace
}  // namespace paths
