#include "agents/project_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "testing/temporary_directory.h"

namespace agents {
namespace {

namespace fs = std::filesystem;

class ProjectText : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() / name) << text;
  }
  [[nodiscard]] std::string project() const { return directory_.path().string(); }

  testing_support::TemporaryDirectory directory_;
};

TEST_F(ProjectText, IsReadFromARegularFile) {
  Write("AGENTS.md", "Be kind.\n");
  EXPECT_EQ(ReadProjectText(project(), "AGENTS.md"), "Be kind.\n");
  EXPECT_EQ(ReadProjectText(project(), "CLAUDE.md"), std::nullopt);
}

TEST_F(ProjectText, IsNotReadThroughALinkAsThatMayLeadToASecretOfTheHost) {
  Write("secret", "secret");
  fs::create_symlink(directory_.path() / "secret", directory_.path() / "AGENTS.md");
  EXPECT_EQ(ReadProjectText(project(), "AGENTS.md"), std::nullopt);
}

TEST_F(ProjectText, IsNotReadFromWhatIsNoFile) {
  fs::create_directory(directory_.path() / "AGENTS.md");
  ASSERT_EQ(::mkfifo((directory_.path() / "CLAUDE.md").c_str(), 0600), 0);
  EXPECT_EQ(ReadProjectText(project(), "AGENTS.md"), std::nullopt);
  EXPECT_EQ(ReadProjectText(project(), "CLAUDE.md"), std::nullopt) << "a FIFO must not block";
}

TEST_F(ProjectText, IsCutAtItsLimitAndIsUtf8) {
  Write("AGENTS.md", std::string(kMaximumProjectText, 'a') + "b");
  EXPECT_EQ(ReadProjectText(project(), "AGENTS.md"), std::string(kMaximumProjectText, 'a'));
  Write("CLAUDE.md", "a\xFF");
  EXPECT_EQ(ReadProjectText(project(), "CLAUDE.md"), "a\xEF\xBF\xBD");
}

TEST_F(ProjectText, OfSeveralFilesFollowsUnderTheirNames) {
  Write("CLAUDE.md", "one");
  Write("AGENTS.md", "two\n");
  constexpr std::array<std::string_view, 3> kNames = {"CLAUDE.md", "missing", "AGENTS.md"};
  EXPECT_EQ(ProjectInstructions(project(), kNames),
            "\n# CLAUDE.md of the project\n\none\n\n# AGENTS.md of the project\n\ntwo\n");
}

}  // namespace
}  // namespace agents
