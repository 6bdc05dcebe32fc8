// What docs/ says of each agent is what its file here says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agents/common.h"
#include "testing/files.h"

namespace agents {
namespace {

using ::testing::HasSubstr;

std::string Document(const std::string& name) {
  return testing_support::ReadFile(LIMACTL_MCP_SOURCE_DIRECTORY "/docs/" + name);
}

/// A cell of a table: words as code.
std::string Cell(const std::vector<std::string_view>& words) {
  std::string cell;
  for (const std::string_view word : words) cell.append(" `").append(word).append("`");
  return cell + " |";
}

/// From its heading to the next one.
std::string Section(const std::string& document, std::string_view title) {
  const std::size_t begin = document.find("\n## " + std::string(title) + "\n");
  if (begin == std::string::npos) return "";
  return document.substr(begin, document.find("\n## ", begin + 1) - begin);
}

TEST(Documents, HaveATableOfTheAgents) {
  const std::string document = Document("agents.md");
  const std::size_t begin = document.find("| agent | program |");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = document.substr(begin, document.find("\n\n", begin) - begin);
  for (const Agent& agent : Agents()) {
    std::vector<std::string_view> obeyed;
    for (const paths::HostProgram& row : agent.obeys) {
      for (const std::string_view pattern : Words(row.patterns)) obeyed.push_back(pattern);
    }
    EXPECT_THAT(table, HasSubstr("\n| " + std::string(agent.title) + " |" +
                                 Cell(Words(agent.programs)) + Cell(agent.clients) + Cell(obeyed)));
  }
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + std::ssize(Agents()));
}

TEST(Documents, NameTheOldestVersionsThatAreConfined) {
  for (const Agent& agent : Agents()) {
    if (!agent.run) continue;
    EXPECT_THAT(Section(Document("agents.md"), agent.title),
                HasSubstr(support::ToString(agent.run->oldest) + ", the oldest accepted."));
  }
}

TEST(Documents, NameTheFilesThatConfigureWrites) {
  const std::string document = Section(Document("configure.md"), "Files per agent");
  SettingsRequest request;
  request.server = {"limactl"};
  for (const bool project_files : {false, true}) {
    request.project_files = project_files;
    for (const Agent& agent : Agents()) {
      const std::size_t begin =
          document.find("\n| `" + std::string(agent.name) + "` " + std::string(agent.title) + " |");
      ASSERT_NE(begin, std::string::npos) << agent.name;
      const std::string row = document.substr(begin, document.find('\n', begin + 1) - begin);
      for (const SettingsFile& file : agent.settings(request).files) {
        if (file.path.starts_with('/')) continue;  // the user's own
        EXPECT_THAT(row, HasSubstr("`" + file.path + "`"));
        EXPECT_THAT(row, HasSubstr(file.alternative));
      }
    }
  }
}

}  // namespace
}  // namespace agents
