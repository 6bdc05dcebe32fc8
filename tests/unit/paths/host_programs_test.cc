// The table of what programs on the host obey, and how names are compared with it.

#include "paths/host_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace paths {
namespace {

using ::testing::ElementsAre;

TEST(HostPrograms, MatchAtEachDepth) {
  std::vector<std::string> above;
  for (const HostMatch& match : HostPrograms().Match("hooks/x.git/\u017fub/con\ufb01g")) {
    if (match.row.writing == Writing::kRefusedBesideHead) above.emplace_back(match.above);
  }
  EXPECT_THAT(above, ElementsAre("hooks/x.git/\u017fub/", ""));
}

TEST(HostPrograms, MatchWhereTheirPatternSays) {
  const auto matched = [](const char* path) {
    const auto found = HostPrograms().Match(path);
    return found.empty() ? "" : std::string(found.front().row.program);
  };
  EXPECT_EQ(matched("socket.py"), "python");
  EXPECT_EQ(matched("src/socket.py"), "");
  EXPECT_EQ(matched("a/node_modules/b/c.js"), "node");
  EXPECT_EQ(matched("package.json"), "npm, pnpm, yarn, bun");
  EXPECT_EQ(matched("package.json/x"), "") << "only a file";
  EXPECT_EQ(matched("a/Package.JSON"), "npm, pnpm, yarn, bun");
  EXPECT_EQ(matched("a/\xff\n.mk"), "make, bash-completion") << "names are bytes";
  EXPECT_EQ(matched("apackage.json"), "");
}

TEST(HostPrograms, HaveAReasonOfAtMostTenWords) {
  const HostPrograms programs;
  for (const HostProgram& row : programs.rows()) {
    EXPECT_FALSE(row.patterns.empty() || row.program.empty()) << row.patterns;
    EXPECT_LT(std::count(row.reason.begin(), row.reason.end(), ' '), 10) << row.reason;
  }
}

}  // namespace
}  // namespace paths
