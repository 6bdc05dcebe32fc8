#include "find/glob_matcher.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace find {
namespace {

/// A path that ends with '/' is a directory.
bool Matches(const std::string& pattern, std::string path, bool case_sensitive = true) {
  const bool is_directory = path.ends_with('/');
  if (is_directory) path.pop_back();
  return GlobMatcher(ParseGlob(pattern), case_sensitive).Match(path, is_directory) !=
         GlobMatch::kNone;
}

// tests/glob_reference compares the same table with npm's minimatch. The table explains
// differences.
TEST(GlobMatcher, AgreesWithTheTable) {
  const nlohmann::json table = nlohmann::json::parse(std::ifstream(GLOB_TABLE_FILE));
  std::size_t pairs = 0;
  for (const nlohmann::json& row : table) {
    const auto pattern = row.at("pattern").get<std::string>();
    for (const std::string path : row.at("matches")) {
      EXPECT_TRUE(Matches(pattern, path)) << pattern << " should match " << path;
      ++pairs;
    }
    for (const std::string path : row.at("others")) {
      EXPECT_FALSE(Matches(pattern, path)) << pattern << " should not match " << path;
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 150U);
}

TEST(GlobMatcher, IgnoresCaseOnlyIfRequested) {
  EXPECT_FALSE(Matches("*.TXT", "a.txt"));
  EXPECT_TRUE(Matches("*.TXT", "a.txt", false));
  EXPECT_TRUE(Matches("Ä[A-C]", "äb", false));
  EXPECT_FALSE(Matches("[!A-C]", "b", false));
  EXPECT_TRUE(Matches("[a-c]*", "BÖ", false));
  EXPECT_TRUE(Matches("**/.GIT/config", ".git/config", false));
  EXPECT_FALSE(Matches("**/CONFIG", ".git/config", false));
}

TEST(GlobMatcher, ReportsWhatOnlyAnyDepthFound) {
  const GlobMatcher matcher(ParseGlob("{*.log,**/*.txt}"), true);
  EXPECT_EQ(matcher.Match("a.log", false), GlobMatch::kNamed);
  EXPECT_EQ(matcher.Match("a.txt", false), GlobMatch::kFound);
  EXPECT_EQ(matcher.Match("b/a.log", false), GlobMatch::kNone);
}

TEST(GlobMatcher, AHundredStarsTakeBoundedTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  const GlobMatcher matcher(ParseGlob(pattern + "b"), true);
  EXPECT_EQ(matcher.Match(std::string(200, 'a'), false), GlobMatch::kNone);
  EXPECT_EQ(matcher.Match(std::string(200, 'a') + "b", false), GlobMatch::kNamed);
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "**/a/";
  const GlobMatcher any_depth(ParseGlob(deep + "b"), true);
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "a/";
  EXPECT_EQ(any_depth.Match(path + "c", false), GlobMatch::kNone);
  EXPECT_EQ(any_depth.Match(path + "b", false), GlobMatch::kFound);
}

TEST(GlobMatcher, TakesTheLargestPattern) {
  std::string choices = "{";
  for (int i = 0; i < 999; ++i) choices += i == 0 ? "a" : ",a";
  const std::string pattern = choices + ",b}" + std::string(63, '?');
  ASSERT_EQ(ParseGlob(pattern).size(), kMaximumGlobAlternatives);
  EXPECT_TRUE(Matches(pattern, "b" + std::string(63, 'x')));
}

}  // namespace
}  // namespace find
