#include "agents/agent.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_directory.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;

TEST(Environment, VariablesAreUnsetByNameAndByPrefix) {
  Environment environment = {{"A", "1"}, {"AB", "2"}, {"B_C", "3"}, {"B", "4"}, {"E", ""}};
  Unset(environment, "A B_*");
  EXPECT_EQ(environment, (Environment{{"AB", "2"}, {"B", "4"}, {"E", ""}}));
  EXPECT_EQ(Value(environment, "E", "x"), "x");
}

TEST(Version, IsTheFirstOneInTheText) {
  EXPECT_EQ(ParseVersion("2.1.330 (Claude Code)"), (Version{2, 1, 330}));
  EXPECT_EQ(ParseVersion("codex-cli 0.169.0\n"), (Version{0, 169, 0}));
  EXPECT_EQ(ParseVersion("1.18.33-beta.1"), (Version{1, 18, 33}));
  for (const char* text : {"", "no version", "1.2", "1", "99999999999.0.0", "1.2."}) {
    EXPECT_FALSE(ParseVersion(text)) << text;
  }
  EXPECT_LT((Version{2, 1, 99}), (Version{2, 1, 330}));
  EXPECT_LT((Version{0, 160, 0}), (Version{1, 0, 0}));
  EXPECT_EQ(ToString({2, 1, 330}), "2.1.330");
}

class InstructionsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() / name) << text;
  }
  [[nodiscard]] std::string Read(std::string_view names) const {
    LaunchRequest request;
    request.project = directory_.path().string();
    return Instructions(request, names, "the user's own\n");
  }

  testing_support::TemporaryDirectory directory_;
};

TEST_F(InstructionsTest, FollowUnderTheNamesOfTheirFiles) {
  Write("CLAUDE.md", "one");
  Write("AGENTS.md", "two\n");
  EXPECT_THAT(Read("CLAUDE.md missing AGENTS.md"),
              EndsWith("the user's own\n\n# CLAUDE.md of the project\n\none\n\n"
                       "# AGENTS.md of the project\n\ntwo\n"));
}

TEST_F(InstructionsTest, AreReadFromRegularFilesOnly) {
  Write("secret", "secret");
  fs::create_symlink(directory_.path() / "secret", directory_.path() / "link");
  fs::create_directory(directory_.path() / "directory");
  ASSERT_EQ(::mkfifo((directory_.path() / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(Read("link directory fifo"), EndsWith("the user's own\n"));
}

TEST_F(InstructionsTest, AreCutAtTheirLimitAndUtf8) {
  Write("AGENTS.md", std::string(kMaximumInstructions, 'a') + "b");
  EXPECT_THAT(Read("AGENTS.md"), EndsWith("aa\n"));
  Write("CLAUDE.md", "a\xFF");
  EXPECT_THAT(Read("CLAUDE.md"), EndsWith("a\xEF\xBF\xBD\n"));
}

}  // namespace
}  // namespace agents
