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
    std::vector<std::string> rows;
    for (const HostMatch& match : programs.Match(path)) {
      if (match.row.writing != Writing::kRefusedBesideHead) rows.emplace_back(match.row.patterns);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    std::vector<std::string> found;
    for (const HostProgram* row : finder.Rows(path)) found.emplace_back(row->patterns);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, rows) << path;
  }
}

}  // namespace
}  // namespace exposure
