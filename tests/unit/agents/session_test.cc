#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "agents/agent.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"
#include "unit/agents/named.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::StartsWith;
using testing_support::ModeOf;
using testing_support::ReadFile;
using Words = std::vector<std::string>;

LaunchRequest Request(const std::string& project, const Words& server, bool trust = false,
                      const fs::path& state = "/state", std::string_view name = "codex") {
  LaunchRequest request;
  request.project = project;
  request.server = server;
  request.trust = trust;
  SetDirectories(state, Named(name), request);
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

TEST(SessionDirectories, OfGeminiCliDifferByOptionsSinceItsSettingsAreThere) {
  const auto directory = [](const std::string& instance, bool trust) {
    return Request("/a/x", {"serve", instance}, trust, "/state", "gemini").directory;
  };
  EXPECT_NE(directory("one", false), directory("two", false));
  EXPECT_NE(directory("one", false), directory("one", true));
  EXPECT_EQ(directory("one", true), directory("one", true));
  EXPECT_THAT(directory("one", true), EndsWith("/x"));
}

TEST(SessionFiles, AreForTheUserAloneAndReplaceOlderOnes) {
  const testing_support::TemporaryDirectory top;
  const LaunchRequest request = Request("/project", {}, false, top.path());
  const std::string file = request.control + "/deep/settings.json";
  const std::string link = request.home + "/auth.json";
  const std::string missing = request.home + "/prompts";
  WriteSessionFiles(request, {.files = {{file, "old and long"}}, .links = {{link, "/"}}});
  for (int i = 0; i < 2; ++i) {
    WriteSessionFiles(request, {.files = {{file, "new"}},
                                .links = {{link, "/tmp"}, {missing, "/nowhere/prompts"}}});
  }
  EXPECT_EQ(ReadFile(file), "new");
  EXPECT_EQ(fs::read_symlink(link), "/tmp");
  EXPECT_FALSE(fs::is_symlink(missing));
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
  const auto directory = [](const std::string& home, const std::string& state) {
    return StateDirectory({{"HOME", home}, {"XDG_STATE_HOME", state}});
  };
  EXPECT_EQ(directory("/home/me", ""), "/home/me/.local/state/limactl-mcp");
  EXPECT_EQ(directory("/home/me", "relative"), "/home/me/.local/state/limactl-mcp");
  EXPECT_EQ(directory("/home/me", "/state/"), "/state/limactl-mcp");
  EXPECT_THROW(directory("", ""), support::CallError);
}

}  // namespace
}  // namespace agents
