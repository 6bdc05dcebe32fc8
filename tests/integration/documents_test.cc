// What the documents say of the program and of this repository, held against both.

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
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

/// The first group of each match.
Lines All(const std::string& text, const std::regex& pattern) {
  Lines found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern);
       match != std::sregex_iterator(); ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

class Readme : public IntegrationTest {
 protected:
  /// Of each command, as its help has them; those of the program itself under "".
  [[nodiscard]] std::map<std::string, std::set<std::string>> OptionsOfCommands() const {
    static const std::regex command(R"(\n  ([a-z]+) {2,})");
    static const std::regex option(R"(\n +(?:-[a-z], )?(--[a-z-]+))");
    const std::string help = RunServer({"--help"}).output;
    std::map<std::string, std::set<std::string>> options;
    const auto add = [&](const std::string& name, const std::string& text) {
      for (const std::string& each : All(text, option)) options[name].insert(each);
    };
    add("", help);
    for (const std::string& name : All(help, command))
      add(name, RunServer({name, "--help"}).output);
    return options;
  }

  const std::string readme_ = ReadFile((Source() / "README.md").string());
};

TEST_F(Readme, NamesEveryCommandAndOptionOfTheHelp) {
  const auto commands = OptionsOfCommands();
  EXPECT_THAT(commands, SizeIs(::testing::Ge(5)));
  for (const auto& [command, options] : commands) {
    EXPECT_THAT(readme_, HasSubstr("limactl mcp " + command));
    for (const std::string& option : options) EXPECT_THAT(readme_, HasSubstr(option));
  }
}

TEST_F(Readme, NamesOnlyOptionsThatTheCommandsHave) {
  const auto commands = OptionsOfCommands();
  static const std::regex option("(--[a-z-]+)");
  for (const auto& [heading, command] : {std::pair("| option | meaning |", "configure"),
                                         std::pair("| option of `serve` | meaning |", "serve")}) {
    std::set<std::string> rows = {"--help"};
    for (const std::string& row : TableBehind(readme_, heading)) {
      rows.insert(All(row.substr(0, row.find(" | ")), option).at(0));
    }
    EXPECT_EQ(rows, commands.at(command)) << command;
  }
  static const std::regex use("limactl mcp ([a-z-][^`\n|#]*)");
  for (const std::string& words : All(readme_, use)) {
    const auto command = commands.find(words.substr(0, words.find_first_of(" -")));
    if (command == commands.end()) {
      ADD_FAILURE() << "no such command: " << words;
      continue;
    }
    for (const std::string& each : All(words, option)) {
      EXPECT_THAT(command->second, ::testing::Contains(each)) << words;
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

/// All but what is generated or made of others.
constexpr std::array kDocuments = {"README.md",
                                   "CONTRIBUTING.md",
                                   "SECURITY.md",
                                   "docs/agents.md",
                                   "docs/commands.md",
                                   "packaging/README.md",
                                   "tests/integration/README.md",
                                   "tests/transcripts/README.md",
                                   "tests/vm/README.md"};

std::string Document(const std::string& name) {
  return ReadFile((Source() / name).string());
}

/// What stands between backticks.
Lines Quoted(const std::string& text) {
  static const std::regex quoted("`([^`]+)`");
  return All(text, quoted);
}

/// The names of all test suites and of all tests, as Suite and Suite.Test.
std::set<std::string> Tests() {
  static const std::regex test(R"((?:^|\n)TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(Source() / "tests")) {
    if (!entry.path().filename().string().ends_with("_test.cc")) continue;
    const std::string text = ReadFile(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), test);
         match != std::sregex_iterator(); ++match) {
      names.insert((*match)[1]);
      names.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  }
  return names;
}

TEST(Documents, LinkToFilesThatAreThere) {
  static const std::regex link(R"(\]\(([^):#]+)\))");
  std::size_t links = 0;
  for (const fs::path document : kDocuments) {
    for (const std::string& target : All(Document(document), link)) {
      ++links;
      EXPECT_TRUE(fs::exists(Source() / document.parent_path() / target))
          << document << ": " << target;
    }
  }
  EXPECT_GE(links, 8U);
}

TEST(Documents, NameFilesThatAreThere) {
  static const std::regex word(R"(([^\s]+))");
  static const std::regex file(
      R"([\w/-]+\.(cc|h|mjs|rb|yaml)|(packaging|plugin|share|tests)/[\w./-]*)");
  std::size_t files = 0;
  for (const fs::path document : kDocuments) {
    const fs::path folder = Source() / document.parent_path();
    for (const std::string& quoted : Quoted(Document(document))) {
      for (const std::string& name : All(quoted, word)) {
        if (!std::regex_match(name, file)) continue;
        ++files;
        EXPECT_TRUE(fs::exists(Source() / name) || fs::exists(Source() / "plugin" / name) ||
                    fs::exists(folder / name))
            << document << ": " << name;
      }
    }
  }
  EXPECT_GE(files, 20U);
}

TEST(Documents, NameCommandsOfDevThatThereAre) {
  static const std::regex command(R"(\./dev ((?:[a-z]+)(?:\s+--[a-z]+)?))");
  static const std::regex brackets(R"([\[\]])");
  const std::string dev = Document("dev");
  const std::string usage = dev.substr(0, dev.find("\nTEXT\n"));
  const std::string commands = std::regex_replace(usage, brackets, "");
  for (const fs::path document : kDocuments) {
    for (std::string named : All(Document(document), command)) {
      named = std::regex_replace(named, std::regex("\\s+"), " ");
      EXPECT_THAT(commands, HasSubstr("\n  " + named)) << document;
    }
  }
}

// zsh, which is macOS's, knows no comments where somebody types: what stands behind them is
// arguments, and behind a semicolon a command.
TEST(Documents, HaveCommandsThatMayBePastedIntoZsh) {
  static const std::regex block("\n```sh\n([^`]*)\n```");
  static const std::regex comment("(?:^|\\s)#");
  std::size_t blocks = 0;
  for (const fs::path document : kDocuments) {
    for (const std::string& commands : All(Document(document), block)) {
      ++blocks;
      EXPECT_FALSE(std::regex_search(commands, comment)) << document << ": " << commands;
    }
  }
  EXPECT_GE(blocks, 5U);
}

// A release changes it in CMakeLists.txt, the notes and server.json, as packaging/README.md says.
TEST_F(Readme, NamesNoVersionOfThisProgram) {
  const std::string said = RunServer({"--version"}).output;
  const std::string version =
      said.substr(said.rfind(' ') + 1, said.rfind('\n') - said.rfind(' ') - 1);
  ASSERT_THAT(version, ::testing::Not(::testing::IsEmpty()));
  EXPECT_THAT(readme_, ::testing::Not(HasSubstr(version)));
}

TEST(Documents, NameTestsThatAreThere) {
  static const std::regex name(R"((?:\w+/)?([A-Z]\w+(?:\.\w+)?)(?:/\w+)?)");
  static const std::regex corpus(R"(fuzz_corpus\.(\w+))");
  const std::set<std::string> tests = Tests();
  for (const std::string document : {"SECURITY.md", "tests/integration/README.md"}) {
    std::size_t named = 0;
    for (const std::string& line : LinesOf(Document(document))) {
      if (!line.starts_with('|') || line.starts_with("|--")) continue;
      const std::size_t cell = line.rfind('|', line.size() - 2);
      for (const std::string& quoted : Quoted(line.substr(cell))) {
        std::smatch match;
        if (std::regex_match(quoted, match, name)) {
          EXPECT_TRUE(tests.contains(match[1])) << document << ": " << quoted;
          ++named;
        } else if (std::regex_match(quoted, match, corpus)) {
          EXPECT_TRUE(fs::exists(Source() / "tests/fuzz" / (match[1].str() + ".cc"))) << quoted;
        }
      }
    }
    EXPECT_GE(named, 20U) << document;
  }
}

TEST(Security, NamesATestOfEachThreat) {
  const Lines threats = TableBehind(Document("SECURITY.md"), "| threat |");
  EXPECT_THAT(threats, SizeIs(::testing::Ge(15)));
  for (const std::string& threat : threats) {
    EXPECT_THAT(Quoted(threat.substr(threat.rfind('|', threat.size() - 2))),
                ::testing::Not(::testing::IsEmpty()))
        << threat;
  }
}

TEST(Contributing, ListsEachFolderBehindThoseThatItUses) {
  static const std::regex uses(R"(\splugin_(\w+))");
  std::set<std::string> seen;
  for (const std::string& row : TableBehind(Document("CONTRIBUTING.md"), "| folder |")) {
    std::string folder = Quoted(row).at(0);
    folder.pop_back();  // the slash
    for (const std::string& used : All(Document("plugin/" + folder + "/CMakeLists.txt"), uses)) {
      EXPECT_TRUE(seen.contains(used)) << folder << ": " << used;
    }
    EXPECT_TRUE(fs::is_directory(Source() / "tests/unit" / folder)) << folder;
    seen.insert(folder);
  }
  for (const auto& entry : fs::directory_iterator(Source() / "plugin")) {
    if (!entry.is_directory()) continue;
    EXPECT_THAT(seen, ::testing::Contains(entry.path().filename().string()));
  }
}

}  // namespace
}  // namespace integration
