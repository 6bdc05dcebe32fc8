// SPDX-License-Identifier: Apache-2.0
#include "paths/host_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace paths {
namespace {

std::string FirstProgram(const std::string& path) {
  const HostPrograms programs;
  const auto rows = programs.Match(path);
  return rows.empty() ? "" : std::string(rows.front()->program);
}

TEST(HostPrograms, MatchWhereTheirPatternSays) {
  EXPECT_EQ(FirstProgram("socket.py"), "python");
  EXPECT_EQ(FirstProgram("src/socket.py"), "");
  EXPECT_EQ(FirstProgram("a/.venv/b/c.js"), "Python, editors");
  EXPECT_EQ(FirstProgram("a/Build.RS"), "cargo, rust-analyzer");
  EXPECT_EQ(FirstProgram("build.rs/x"), "") << "only a file";
  EXPECT_EQ(FirstProgram("a/\xff\n.mk"), "make, bash-completion") << "names are bytes";
  EXPECT_EQ(FirstProgram("amise.toml"), "");
  EXPECT_EQ(FirstProgram("x.git/\u017fub/con\ufb01g"), "");
  EXPECT_EQ(FirstProgram("con\ufb01g"), "git") << "beside a HEAD";
}

TEST(HostPrograms, AreFoundInDeepPathsAndAmongMany) {
  const HostPrograms programs;
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += std::to_string(i % 7) + "mise.config.py/";
  EXPECT_EQ(programs.Match(deep + ".envrc").size(), 1U);
  EXPECT_TRUE(programs.Match(deep + "x").empty());
  for (int i = 0; i < 20'000; ++i) {
    const std::string path = std::to_string(i) + "/.venv/bin" + std::to_string(i * i) + "/x.toml";
    ASSERT_TRUE(programs.Match(path).size() == 1) << path;
  }
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
