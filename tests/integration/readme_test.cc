// What README.md says of the program, held against the program.

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Lines = std::vector<std::string>;

fs::path Source() {
  return LIMACTL_MCP_SOURCE_DIRECTORY;
}

Lines LinesOf(const std::string& text) {
  std::istringstream stream(text);
  Lines lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The rows of the first table behind `heading`, without its two lines of heading.
Lines TableBehind(const std::string& text, const std::string& heading) {
  Lines rows;
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return rows;
  for (const std::string& line : LinesOf(text.substr(begin))) {
    if (line.starts_with('|')) {
      rows.push_back(line);
    } else if (!rows.empty()) {
      break;
    }
  }
  if (rows.size() >= 2) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

/// The program's sources as the compiler sees their texts: adjacent literals are one.
std::string SourcesOfPlugin() {
  static const std::regex seam("\"\\s*\n\\s*\"");
  std::string all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(Source() / "plugin")) {
    if (entry.path().extension() == ".cc")
      all += std::regex_replace(ReadFile(entry.path().string()), seam, "") + '\n';
  }
  return std::regex_replace(all, std::regex(R"(\\")"), "\"");
}

class Readme : public IntegrationTest {
 protected:
  const std::string readme_ = ReadFile((Source() / "README.md").string());
};

TEST_F(Readme, NamesEveryCommandAndOptionOfTheHelp) {
  static const std::regex command(R"(^  ([a-z]+) {2,}.*)");
  static const std::regex option("^ +(?:-[a-z], )?--([a-z-]+).*");
  Lines helps = {RunServer({"--help"}).output};
  std::smatch match;
  for (const std::string& line : LinesOf(helps[0])) {
    if (!std::regex_match(line, match, command)) continue;
    EXPECT_THAT(readme_, HasSubstr("limactl mcp " + match[1].str()));
    helps.push_back(RunServer({match[1], "--help"}).output);
  }
  EXPECT_THAT(helps, SizeIs(::testing::Ge(5)));
  for (const std::string& help : helps) {
    for (const std::string& line : LinesOf(help)) {
      if (std::regex_match(line, match, option)) {
        EXPECT_THAT(readme_, HasSubstr("--" + match[1].str()));
      }
    }
  }
}

TEST_F(Readme, ExplainsOnlyMessagesThatTheProgramHas) {
  const std::string sources = SourcesOfPlugin();
  static const std::regex message("^\\| `([^`]+)`.*");
  static const std::regex gap(" ?\"?…\"? ?");
  const Lines rows = TableBehind(readme_, "| it says |");
  EXPECT_THAT(rows, SizeIs(::testing::Ge(10)));
  for (const std::string& row : rows) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(row, match, message)) << row;
    const std::string text = match[1];
    std::sregex_token_iterator part(text.begin(), text.end(), gap, -1);
    for (; part != std::sregex_token_iterator(); ++part) {
      EXPECT_TRUE(sources.find(part->str()) != std::string::npos)
          << "nowhere in the program: \"" << part->str() << "\", of: " << text;
    }
  }
}

TEST_F(Readme, LinksToFilesThatAreThere) {
  static const std::regex link(R"(\]\(([^):#]+)\))");
  std::sregex_iterator found(readme_.begin(), readme_.end(), link);
  EXPECT_GE(std::distance(found, std::sregex_iterator()), 5);
  for (; found != std::sregex_iterator(); ++found)
    EXPECT_TRUE(fs::exists(Source() / (*found)[1].str())) << (*found)[1];
}

}  // namespace
}  // namespace integration
