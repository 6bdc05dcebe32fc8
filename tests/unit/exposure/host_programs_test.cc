// SPDX-License-Identifier: Apache-2.0
#include "exposure/host_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace exposure {
namespace {

using ::testing::ElementsAre;

TEST(HostPrograms, MatchAtEachDepth) {
  const HostPrograms programs;
  const std::string path = "hooks/x.git/\u017fub/con\ufb01g";
  std::vector<std::string> above;
  for (const auto& [row, start] : RowFinder(programs).Match(path)) {
    if (row->writing == Writing::kRefusedBesideHead) above.push_back(path.substr(0, start));
  }
  EXPECT_THAT(above, ElementsAre("", "hooks/x.git/\u017fub/"));
}

TEST(HostPrograms, MatchWhereTheirPatternSays) {
  const HostPrograms programs;
  const auto matched = [&](const char* path, bool is_link = false) {
    const auto found = RowFinder(programs).Match(path, is_link);
    return found.empty() ? "" : std::string(found.front().row->program);
  };
  EXPECT_EQ(matched("socket.py"), "python");
  EXPECT_EQ(matched("src/socket.py"), "");
  EXPECT_EQ(matched("a/node_modules/b/c.js"), "node");
  EXPECT_EQ(matched("package.json"), "npm, pnpm, yarn, bun");
  EXPECT_EQ(matched("package.json/x"), "") << "only a file";
  EXPECT_EQ(matched("a/Package.JSON"), "npm, pnpm, yarn, bun");
  EXPECT_EQ(matched("a/\xff\n.mk"), "make, bash-completion") << "names are bytes";
  EXPECT_EQ(matched("apackage.json"), "");
  EXPECT_EQ(matched("a/.bundle"), "");
  EXPECT_EQ(matched("a/.bundle", true), "Ruby tools") << "a link brings the files in it";
}

TEST(HostPrograms, HaveAReasonOfAtMostTenWords) {
  const HostPrograms programs;
  for (const HostProgram& row : programs.rows()) {
    EXPECT_FALSE(row.patterns.empty() || row.program.empty()) << row.patterns;
    EXPECT_LT(std::count(row.reason.begin(), row.reason.end(), ' '), 10) << row.reason;
  }
}

TEST(HostPrograms, AreFoundForManyPathsAsForEach) {
  const HostPrograms programs;
  RowFinder finder(programs);
  for (const char* path : {"a",
                           "a/b",
                           "a/bin/x",
                           "a/bin/bin/y",
                           "a/bin",
                           "a/binx/y",
                           ".git/hooks/x",
                           ".gitx",
                           ".git",
                           ".git/hooks",
                           "node_modules/.bin/x",
                           "node_modules/.binx",
                           "x/.envrc",
                           "x/.envrc/y",
                           "",
                           "../.envrc",
                           "x/y.py",
                           "y.py",
                           "src/.vscode/tasks.json",
                           "HEAD"}) {
    EXPECT_EQ(finder.Match(path), RowFinder(programs).Match(path)) << path;
  }
}

}  // namespace
}  // namespace exposure
