// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "support/environment.h"
#include "support/program.h"
#include "testing/temporary_directory.h"

namespace support {
namespace {

namespace fs = std::filesystem;

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

TEST(FindProgram, FindsTheFirstExecutableFile) {
  const testing_support::TemporaryDirectory directory;
  const auto path = [&](const std::string& name) { return (directory.path() / name).string(); };
  const auto make = [&](const std::string& name, fs::perms permissions) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << "#!/bin/sh\n";
    fs::permissions(path(name), permissions);
  };
  make("a/limactl", fs::perms::owner_read);
  fs::create_directories(path("b/limactl"));
  make("c/limactl", fs::perms::owner_all);
  make("d/limactl", fs::perms::owner_all);
  const std::string all =
      "::/no/such/directory:" + path("a") + ":" + path("b") + ":" + path("c") + ":" + path("d");
  EXPECT_EQ(FindProgram("limactl", all), path("c/limactl"));
  EXPECT_EQ(FindProgram("limactl", path("a")), std::nullopt);
  EXPECT_EQ(FindProgram("limactl", ""), std::nullopt);
}

TEST(OwnProgram, IsThisOne) {
  EXPECT_EQ(OwnProgram().filename(), "support_test");
}

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
