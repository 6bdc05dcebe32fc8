// README.md and docs/ name every command, option and tool, and every file that a document links to
// exists. The tests that SECURITY.md names exist too.

#include <gmock/gmock.h>
#include <re2/re2.h>

#include <filesystem>
#include <string>
#include <vector>

#include "integration/all_matches.h"
#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kSource = LIMACTL_MCP_SOURCE_DIRECTORY;

std::vector<fs::path> DocumentsIn(const fs::path& folder) {
  std::vector<fs::path> documents;
  for (const auto& entry : fs::directory_iterator(kSource / folder)) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  return documents;
}

class Documents : public IntegrationTest {};

TEST_F(Documents, NameEveryCommandOptionAndTool) {
  std::string text = ReadFile(kSource / "README.md");
  for (const fs::path& document : DocumentsIn("docs")) text += ReadFile(document);
  const std::string help = RunServer({"--help"}).output;
  std::string options = help;
  const std::vector<std::string> commands = AllMatches(help, "\n  ([a-z]+) {2,}");
  ASSERT_EQ(commands.size(), 10U);
  for (const std::string& command : commands) {
    EXPECT_THAT(text, HasSubstr("limactl mcp " + command));
    options += RunServer({command, "--help"}).output;
  }
  const std::vector<std::string> names = AllMatches(options, "\n +(?:-[a-z], )?(--[a-z-]+)");
  EXPECT_GE(names.size(), 20U);
  for (const std::string& option : names) EXPECT_THAT(text, HasSubstr(option));
  const auto info = nlohmann::json::parse(RunServer({"info"}).output);
  for (const auto& tool : info.at("tools")) {
    EXPECT_THAT(text, HasSubstr("`" + tool.at("name").get<std::string>() + "`"));
  }
}

TEST_F(Documents, LinkToExistingFiles) {
  std::size_t links = 0;
  for (const char* folder : {".", "docs", "packaging", "tests/integration", "tests/vm"}) {
    for (const fs::path& document : DocumentsIn(folder)) {
      for (const std::string& target : AllMatches(ReadFile(document), R"(\]\(([^):#]+)[#)])")) {
        ++links;
        EXPECT_TRUE(fs::exists(document.parent_path() / target)) << document << ": " << target;
      }
    }
  }
  EXPECT_GE(links, 8U);
}

/// The last cell of a table's row has "Suite", "Suite.Name", "Suite.Beginning…", or "suite:
/// sentence".
TEST_F(Documents, NameExistingTests) {
  std::string tests;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "tests")) {
    if (entry.path().extension() == ".cc") tests += ReadFile(entry.path());
  }
  std::string cells;
  for (const std::string& cell :
       AllMatches(ReadFile(kSource / "SECURITY.md"), R"((?m)^\|.*\| (.*) \|$)")) {
    cells += cell + "\n";
  }
  const std::vector<std::string> names = AllMatches(cells, "`([A-Z][^`]*)`");
  EXPECT_GE(names.size(), 50U);
  for (const std::string& name : names) {
    std::string declaration = name + (name.find('.') == std::string::npos ? "," : "\\)");
    re2::RE2::GlobalReplace(&declaration, "\\.", R"(,\\s+)");
    re2::RE2::GlobalReplace(&declaration, "…", R"(\\w*)");
    EXPECT_TRUE(re2::RE2::PartialMatch(tests, R"(\bTEST(_[FP])?\()" + declaration)) << name;
  }
  for (const std::string& name : AllMatches(cells, "`([a-z_]+(?:: [^`]*)?)`")) {
    const std::size_t colon = std::min(name.find(':'), name.size());
    const std::string suite = ReadFile(kSource / "tests/suites" / (name.substr(0, colon) + ".txt"));
    if (colon == name.size()) continue;
    EXPECT_THAT(suite, HasSubstr("\n= " + name.substr(colon + 2) + "\n")) << name;
  }
  for (const std::string& fuzzer : AllMatches(cells, R"(`fuzz_corpus\.(\w+)`)")) {
    EXPECT_TRUE(fs::exists(kSource / "tests/fuzz" / (fuzzer + ".cc"))) << fuzzer;
  }
}

}  // namespace
}  // namespace integration
