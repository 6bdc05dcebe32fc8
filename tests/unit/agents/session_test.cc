#include "agents/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::StartsWith;
using testing_support::ModeOf;
using testing_support::ReadFile;
using Words = std::vector<std::string>;

LaunchRequest Request(const std::string& project, const Words& server, bool trust = false,
                      const fs::path& state = "/state") {
  LaunchRequest request;
  request.project = project;
  request.server = server;
  request.trust = trust;
  SetDirectories(state, "codex", request);
  return request;
}

TEST(SessionDirectories, DifferByProjectAndTheSettingsByOptions) {
  EXPECT_THAT(Request("/a/x", {}).directory, StartsWith("/state/run/codex/"));
  EXPECT_THAT(Request("/a/x", {}).directory, EndsWith("/work/x"));
  EXPECT_NE(Request("/a/x", {}).directory, Request("/b/x", {}).directory);
  EXPECT_EQ(Request("/a", {}, true).directory, Request("/a", {}).directory);
  EXPECT_EQ(Request("/a", {}, true).home, Request("/a", {}).home);
  EXPECT_NE(Request("/a", {}, true).control, Request("/a", {}).control);
  EXPECT_NE(Request("/a", {"ab", "c"}).control, Request("/a", {"a", "bc"}).control);
}

TEST(SessionFiles, AreForTheUserAloneAndReplaceOlderOnes) {
  const testing_support::TemporaryDirectory top;
  const LaunchRequest request = Request("/project", {}, false, top.path());
  const std::string file = request.control + "/deep/settings.json";
  const std::string link = request.home + "/auth.json";
  WriteSessionFiles(request, {.files = {{file, "old and long"}}, .links = {{link, "/nowhere"}}});
  WriteSessionFiles(request, {.files = {{file, "new"}}, .links = {{link, "/elsewhere"}}});
  EXPECT_EQ(ReadFile(file), "new");
  EXPECT_EQ(fs::read_symlink(link), "/elsewhere");
  EXPECT_EQ(ModeOf(file), 0600U);
  for (const fs::path& directory : {fs::path(request.directory), fs::path(request.control),
                                    fs::path(request.home), fs::path(file).parent_path()}) {
    EXPECT_EQ(ModeOf(directory), 0700U) << directory;
  }
  const auto names =
      std::distance(fs::directory_iterator(fs::path(file).parent_path()), fs::directory_iterator());
  EXPECT_EQ(names, 1) << "a temporary file is left";
}

TEST(StateDirectory, IsInTheUsersState) {
  EXPECT_EQ(StateDirectory("/home/me", ""), "/home/me/.local/state/limactl-mcp");
  EXPECT_EQ(StateDirectory("/home/me", "relative"), "/home/me/.local/state/limactl-mcp");
  EXPECT_EQ(StateDirectory("/home/me", "/state/"), "/state/limactl-mcp");
  EXPECT_THROW(StateDirectory("", ""), support::CallError);
}

}  // namespace
}  // namespace agents
