#include "agents/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "testing/temporary_directory.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

mode_t ModeOf(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(SessionPlaces, DifferByProjectAndTheSettingsByOptions) {
  const auto find = [&](const std::string& project, const Words& options) {
    return FindSessionPlaces("/state", "codex", project, options);
  };
  EXPECT_THAT(find("/a/x", {}).directory, StartsWith("/state/run/codex/"));
  EXPECT_THAT(find("/a/x", {}).directory, EndsWith("/work/x"));
  EXPECT_NE(find("/a/x", {}).directory, find("/b/x", {}).directory);
  EXPECT_EQ(find("/a", {"--trust"}).directory, find("/a", {}).directory);
  EXPECT_EQ(find("/a", {"--trust"}).home, find("/a", {}).home);
  EXPECT_NE(find("/a", {"--trust"}).control, find("/a", {}).control);
  EXPECT_NE(find("/a", {"ab", "c"}).control, find("/a", {"a", "bc"}).control);
}

TEST(SessionFiles, AreForTheUserAloneAndReplaceOlderOnes) {
  const testing_support::TemporaryDirectory top;
  const SessionPlaces places = FindSessionPlaces(top.path(), "claude", "/project", Words{});
  const std::string file = places.control + "/deep/settings.json";
  const std::string link = places.home + "/auth.json";
  WriteSessionFiles(places, {.files = {{file, "old and long"}}, .links = {{link, "/nowhere"}}});
  WriteSessionFiles(places, {.files = {{file, "new"}}, .links = {{link, "/elsewhere"}}});
  EXPECT_EQ(ReadFile(file), "new");
  EXPECT_EQ(fs::read_symlink(link), "/elsewhere");
  EXPECT_EQ(ModeOf(file), 0600U);
  for (const fs::path& directory : {fs::path(places.directory), fs::path(places.control),
                                    fs::path(places.home), fs::path(file).parent_path()}) {
    EXPECT_EQ(ModeOf(directory), 0700U) << directory;
  }
  const auto names =
      std::distance(fs::directory_iterator(fs::path(file).parent_path()), fs::directory_iterator());
  EXPECT_EQ(names, 1) << "a temporary file is left";
}

}  // namespace
}  // namespace agents
