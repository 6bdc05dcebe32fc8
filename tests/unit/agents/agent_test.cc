#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "agents/common.h"
#include "testing/temporary_directory.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using mcp::ResultStyle;
using ::testing::EndsWith;

TEST(KnownAgents, GetTextAndOthersTheContract) {
  for (const char* name :
       {"claude-code", "codex-mcp-client", "copilot-cli", "gemini-cli-mcp-client", "opencode",
        "cursor-vscode", "Visual Studio Code - Insiders", "Zed"}) {
    EXPECT_EQ(FormatFor(name).style, ResultStyle::kText) << name;
  }
  for (const char* name : {"", "mcp", "a claude-code", "Visual Studio"}) {
    EXPECT_EQ(FormatFor(name).style, ResultStyle::kStructured) << name;
  }
  EXPECT_LT(FormatFor("opencode").text_bytes, 50'000U);
}

TEST(KnownAgents, TheUserDecidesOtherwise) {
  const mcp::ResultFormat structured = FormatFor("opencode", ResultStyle::kStructured);
  EXPECT_EQ(structured.style, ResultStyle::kStructured);
  EXPECT_EQ(FormatFor("mcp", ResultStyle::kText).style, ResultStyle::kText);
}

TEST(UpdateCommand, SuitsHowTheAgentWasInstalled) {
  const Confinement codex = *Codex().run;
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"/usr/lib/node_modules/@openai/codex/bin/codex.js", "npm install -g @openai/codex@latest"},
      {"/home/me/.bun/install/global/node_modules/x/codex", "bun add -g @openai/codex@latest"},
      {"/home/me/.local/share/pnpm/codex", "pnpm add -g @openai/codex@latest"},
      {"/opt/homebrew/Cellar/gemini-cli/1.0/lib/node_modules/x", "brew upgrade gemini-cli"},
      {"/opt/homebrew/Caskroom/codex/1.0/codex", "brew upgrade codex"},
      {"/opt/homebrew/Caskroom/copilot-cli/1.0/copilot", "brew upgrade copilot-cli"},
      {"/usr/bin/codex", "as you installed /usr/bin/codex"}};
  for (const auto& [program, command] : rows) EXPECT_EQ(UpdateCommand(codex, program), command);
  EXPECT_EQ(UpdateCommand(*Claude().run, "/home/me/.local/share/claude/2.0.0"), "claude update");
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
              ::testing::MatchesRegex("(.|\n)*the user's own\n\n# CLAUDE.md of the project\n\n"
                                      "Up to the line END-.*\n\none\nEND-[0-9a-f]+\n\n"
                                      "# AGENTS.md of the project\n\n"
                                      "Up to the line END-.*\n\ntwo\nEND-[0-9a-f]+\n"));
}

TEST_F(InstructionsTest, EndWithALineThatNoFileCanGuess) {
  Write("AGENTS.md", "text\n");
  const std::string text = Read("AGENTS.md");
  const std::string end = text.substr(text.rfind("END-"));
  EXPECT_EQ(end.size(), std::string("END-0123456789abcdef\n").size());
  EXPECT_THAT(text, ::testing::HasSubstr("Up to the line " + end.substr(0, end.size() - 1) + " "));
  EXPECT_THAT(Read("AGENTS.md"), ::testing::Not(EndsWith(end))) << "another one each time";
}

TEST_F(InstructionsTest, AreReadFromRegularFilesOnly) {
  Write("secret", "secret");
  fs::create_symlink(directory_.path() / "secret", directory_.path() / "link");
  fs::create_directory(directory_.path() / "directory");
  ASSERT_EQ(::mkfifo((directory_.path() / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(Read("link directory fifo"), EndsWith("the user's own\n"));
}

TEST_F(InstructionsTest, AreReadFromDirectoriesButThroughNoLink) {
  fs::create_directories(directory_.path() / ".github/deep");
  Write(".github/copilot-instructions.md", "one\n");
  Write(".github/deep/x.md", "two\n");
  fs::create_directory_symlink(".github", directory_.path() / "link");
  EXPECT_THAT(Read(".github/copilot-instructions.md .github/deep/x.md"),
              ::testing::AllOf(::testing::HasSubstr("\none\nEND-"),
                               ::testing::HasSubstr("# .github/deep/x.md of the project\n"),
                               ::testing::HasSubstr("\ntwo\nEND-")));
  EXPECT_THAT(Read("link/copilot-instructions.md link/deep/x.md missing/x"),
              EndsWith("the user's own\n"));
}

TEST_F(InstructionsTest, HaveALimitAndAreUtf8) {
  Write("AGENTS.md", std::string(kMaxInstructions, 'a'));
  EXPECT_THAT(Read("AGENTS.md"), ::testing::HasSubstr("aa\nEND-"));
  Write("AGENTS.md", std::string(kMaxInstructions + 1, 'a'));
  EXPECT_THAT(Read("AGENTS.md"), EndsWith("the user's own\n"));
  Write("CLAUDE.md", "a\xFF");
  EXPECT_THAT(Read("CLAUDE.md"), ::testing::HasSubstr("\na\xEF\xBF\xBD\nEND-"));
}

}  // namespace
}  // namespace agents
