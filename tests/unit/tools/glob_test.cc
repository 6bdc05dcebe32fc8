#include "find/glob.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "testing/file_names.h"
#include "tools/tools.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using guest::Operation;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class Glob : public SearchToolFixture {
 protected:
  /// A string is the pattern alone.
  std::vector<std::string> Matches(const json& arguments) {
    const json structured =
        Structured(Call(tool_, arguments.is_string() ? json{{"pattern", arguments}} : arguments));
    return structured.at("matches").get<std::vector<std::string>>();
  }
  using SearchToolFixture::ErrorOf;
  std::string ErrorOf(const json& arguments) { return ErrorOf(tool_, arguments); }

  /// Host paths of these names.
  static std::vector<std::string> Hosts(const std::vector<std::string>& relative) {
    std::vector<std::string> hosts;
    for (const std::string& name : relative) hosts.push_back(Host(name));
    return hosts;
  }

  const mcp::Tool tool_ = ToolNamed("glob", *this);
};

TEST_F(Glob, ReturnsHostPathsNewestFirstThenByName) {
  Write("b.txt");
  Write("a.txt");
  Write("old.txt");
  Write("new.txt");
  SetTime("a.txt", 10, 500);
  SetTime("b.txt", 10, 500);
  SetTime("old.txt", 10, 499);
  SetTime("new.txt", 11);
  EXPECT_EQ(Matches("*.txt"), Hosts({"new.txt", "a.txt", "b.txt", "old.txt"}));
}

TEST_F(Glob, NoMatchIsAnEmptyList) {
  for (const char* pattern : {"*.txt", "missing/*.txt", "missing/**"}) {
    EXPECT_THAT(Matches(pattern), ElementsAre()) << pattern;
  }
}

TEST_F(Glob, TakesADirectoryAsHostOrGuestPathOrNone) {
  Write("src/a.cc");
  for (const json& path : {json(Host("src")), json(Path("src").string()), json(Host("src/"))}) {
    EXPECT_EQ(Matches(json{{"pattern", "*.cc"}, {"path", path}}), Hosts({"src/a.cc"})) << path;
  }
  EXPECT_EQ(Matches(json{{"pattern", "src/*.cc"}}), Hosts({"src/a.cc"}));
}

TEST_F(Glob, RejectsAPathThatIsOutsideOrNoDirectory) {
  Write("a.cc");
  const auto error = [&](const std::string& path) {
    return ErrorOf({{"pattern", "*"}, {"path", path}});
  };
  EXPECT_THAT(error(Host("a.cc")),
              HasSubstr("/a.cc is a regular file, not a directory; give the directory"));
  EXPECT_THAT(error(Host("missing")),
              HasSubstr("/Users/me/project/missing does not exist; list the directory above"));
  EXPECT_THAT(ErrorOf({{"pattern", "x/*"}, {"path", Host("missing")}}),
              HasSubstr("missing does not exist; list the directory above"));
  EXPECT_THAT(error("/etc"), HasSubstr("/etc"));
  EXPECT_THAT(error("/Users/me/project_secret"), HasSubstr("/Users/me/project_secret"));
  EXPECT_THAT(error("src"), HasSubstr("expected an absolute path"));
}

TEST_F(Glob, AnAbsolutePatternMustLieUnderARoot) {
  Write("src/a.cc");
  EXPECT_EQ(Matches(Host("src/*.cc")), Hosts({"src/a.cc"}));
  EXPECT_EQ(Matches(Host("**/*.cc")), Hosts({"src/a.cc"}));
  EXPECT_EQ(Matches(json{{"pattern", Host("src/*.cc")}, {"path", kHost}}), Hosts({"src/a.cc"}));
  EXPECT_THAT(ErrorOf({{"pattern", Host("*")}, {"path", Host("src")}}),
              HasSubstr("is not inside the path"));
  EXPECT_THAT(ErrorOf({{"pattern", Host("*")}, {"path", Path("src").string()}}),
              HasSubstr("not inside the path /Users/me/project/src."))
      << "texts name paths by the host's names";
  EXPECT_THAT(ErrorOf({{"pattern", "/etc/*"}}), HasSubstr("/etc"));
  EXPECT_THAT(ErrorOf({{"pattern", "/*"}}), Not(HasSubstr("no error")));
}

TEST_F(Glob, AnAbsolutePatternNeedsNoDefaultDirectory) {
  Write("a.txt");
  std::filesystem::create_directory(Outside("other"));
  std::ofstream(Outside("other/b.txt")) << "x";
  paths::PathRules::Options options;
  options.roots = {{kHost, Path("").string(), false, {}},
                   {"/other", Outside("other").string(), false, {}}};
  options.instance = "default";
  paths_ = std::make_shared<const paths::PathRules>(options);
  EXPECT_THAT(Matches("/other/missing/*.txt"), ElementsAre());
  EXPECT_THAT(ErrorOf({{"pattern", "missing/*.txt"}}), HasSubstr("path is missing"));
  options.working_directory = kHost;
  paths_ = std::make_shared<const paths::PathRules>(options);
  EXPECT_THAT(Matches("{a.txt,/other/b.txt}"), UnorderedElementsAre(Host("a.txt"), "/other/b.txt"));
}

TEST_F(Glob, LinksThatAPatternNamesFollowThePathRules) {
  Write("real/a.txt");
  std::filesystem::create_directory_symlink(Path("real"), Path("inside"));
  std::filesystem::create_directory(Outside("secrets"));
  std::ofstream(Outside("secrets/key.txt")) << "x";
  std::filesystem::create_directory_symlink(Outside("secrets"), Path("outside"));
  EXPECT_EQ(Matches("inside/*.txt"), Hosts({"real/a.txt"}));
  EXPECT_THAT(ErrorOf({{"pattern", "outside/*.txt"}}), HasSubstr("outside"));
  EXPECT_THAT(ErrorOf({{"pattern", "outside/**"}}), Not(HasSubstr("key.txt")));
}

TEST_F(Glob, LinksThatWildcardsMatchAreNotFollowed) {
  Write("real/a.txt");
  std::filesystem::create_directory_symlink(Path("real"), Path("inside"));
  std::filesystem::create_directory_symlink("/etc", Path("etc"));
  std::filesystem::create_symlink("/etc/passwd", Path("passwd.txt"));
  std::filesystem::create_symlink("nowhere", Path("dangling.txt"));
  EXPECT_THAT(Matches("*/*"), UnorderedElementsAre(Host("real/a.txt")));
  EXPECT_THAT(Matches("**/*.txt"),
              UnorderedElementsAre(Host("real/a.txt"), Host("passwd.txt"), Host("dangling.txt")));
  EXPECT_THAT(Matches("e*"), UnorderedElementsAre(Host("etc")));
  EXPECT_THAT(Matches("*/"), UnorderedElementsAre(Host("real")));
}

TEST_F(Glob, ResultsOfSeveralBracesAreReturnedOnce) {
  Write("src/a/x.c");
  Write("src/b.c");
  Write("test/c.c");
  Write("other/d.c");
  EXPECT_THAT(Matches("{src,src/a,test}/**/*.c"),
              UnorderedElementsAre(Host("src/a/x.c"), Host("src/b.c"), Host("test/c.c")));
  EXPECT_EQ(Runs(), 1);
}

TEST_F(Glob, ManyBeginningsTakeOneListing) {
  std::string pattern = "{";
  for (int i = 0; i < 40; ++i) {
    Write("d" + std::to_string(i) + "/x");
    pattern += (i > 0 ? ",d" : "d") + std::to_string(i);
  }
  EXPECT_EQ(Matches(pattern + "}/x").size(), 40U);
  EXPECT_EQ(Runs(), 1);
}

TEST_F(Glob, CaseMattersByDefault) {
  Write("Src/README.MD");
  EXPECT_THAT(Matches("src/*.md"), ElementsAre());
  EXPECT_EQ(Matches(json{{"pattern", "src/*.md"}, {"case_sensitive", false}}),
            Hosts({"Src/README.MD"}));
  EXPECT_EQ(Matches(json{{"pattern", Host("**/readme.md")}, {"case_sensitive", false}}),
            Hosts({"Src/README.MD"}));
}

TEST_F(Glob, NamesWithAnyBytesAreFound) {
  Write("a\nb.txt");
  Write("-rf $(id) `x` '\".txt");
  // Names that are not UTF-8 are shown and found as this one.
  Write(testing_support::kNamesAreBytes ? "caf\xE9.txt" : "caf\xEF\xBF\xBD.txt");
  EXPECT_THAT(Matches("*.txt"),
              UnorderedElementsAre(Host("a\nb.txt"), Host("-rf $(id) `x` '\".txt"),
                                   Host("caf\xEF\xBF\xBD.txt")));
  EXPECT_THAT(Matches("caf?.txt"), ElementsAre(Host("caf\xEF\xBF\xBD.txt")));
  EXPECT_THAT(Matches("caf\xEF\xBF\xBD.txt"), ElementsAre(Host("caf\xEF\xBF\xBD.txt")));
}

class GlobIgnored : public Glob {
 protected:
  void SetUp() override {
    Git("", "init -q .");
    Write(".gitignore", "*.log\n/build/\n");
    Write("a.log");
    Write("a.c");
    Write("build/b.c");
    Write("build/deep/c.c");
    Write("src/d.log");
    Write("src/e.c");
  }
};

TEST_F(GlobIgnored, IgnoredFilesAreFoundOnlyIfThePatternNamesThem) {
  const std::vector<std::pair<const char*, std::vector<std::string>>> cases = {
      // any depth
      {"**/*.c", {"a.c", "src/e.c"}},
      {"**/*.log", {}},
      {"src/**", {"src/e.c"}},
      {"**", {".gitignore", "a.c", "src", "src/e.c"}},
      // names and single wildcards
      {"*.log", {"a.log"}},
      {"src/d.log", {"src/d.log"}},
      {"*/*.c", {"build/b.c", "src/e.c"}},
      {".git/HEAD", {".git/HEAD"}},
      {"{*.log,**/*.log}", {"a.log"}},
      // a named ignored directory
      {"build/**/*.c", {"build/b.c", "build/deep/c.c"}}};
  for (const auto& [pattern, names] : cases) {
    EXPECT_THAT(Matches(pattern), testing::UnorderedElementsAreArray(Hosts(names))) << pattern;
  }
  EXPECT_THAT(Matches(json{{"pattern", "**/*.c"}, {"path", Host("build/deep")}}),
              ElementsAre(Host("build/deep/c.c")));
  EXPECT_THAT(Matches(".git/**/HEAD"), testing::Contains(Host(".git/HEAD")));
}

TEST_F(GlobIgnored, ANamedIgnoredDirectoryIsSearchedInAnyCase) {
  const std::vector<std::pair<const char*, std::vector<std::string>>> cases = {
      {"BUILD/**/*.C", {"build/b.c", "build/deep/c.c"}},
      {"build/DEEP/**", {"build/deep/c.c"}},
      {"SRC/**", {"src/e.c"}},
      {"B*D/**/*.c", {}}};
  for (const auto& [pattern, names] : cases) {
    EXPECT_THAT(Matches(json{{"pattern", pattern}, {"case_sensitive", false}}),
                testing::UnorderedElementsAreArray(Hosts(names)))
        << pattern;
  }
}

TEST_F(GlobIgnored, OneOfManyNamedDirectoriesMayBeIgnored) {
  std::string pattern = "{src,build";
  for (std::size_t i = 0; i < find::kMaxGlobWalks; ++i) pattern += ",d" + std::to_string(i);
  EXPECT_THAT(Matches(pattern + "}/**/*.{c,log}"),
              UnorderedElementsAre(Host("build/b.c"), Host("build/deep/c.c"), Host("src/e.c")));
}

TEST_F(Glob, TooManyMatchesAreAnErrorThatListsTheNewest) {
  for (std::size_t i = 0; i < kMaxGlobMatches; ++i) Write("d/" + std::to_string(i));
  SetTime("d/77", 400'000'000);
  EXPECT_EQ(Matches("d/*").size(), kMaxGlobMatches);
  Write("d/more");
  const std::string error = ErrorOf({{"pattern", "d/*"}});
  EXPECT_THAT(error, AllOf(HasSubstr("10001 names match, more than the 10000"),
                           HasSubstr("The newest 100 are:\n"), HasSubstr("Narrow it")));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 100);
}

TEST_F(Glob, MemoryForMatchesIsLimited) {
  paths::PathRules::Options options;
  options.roots = {{"/" + std::string(4000, 'h'), Path("").string(), false, {}}};
  options.instance = "default";
  paths_ = std::make_shared<const paths::PathRules>(std::move(options));
  std::ofstream(Outside("find")) << "#!/bin/sh\nyes '1 f ./a//' | head -n 100000\n";
  std::filesystem::permissions(Outside("find"), std::filesystem::perms::owner_all);
  guest_.OfferOnly(Outside("programs"), {{"find", Outside("find").string()},
                                         {"sh", "/bin/sh"},
                                         {"cat", find::FindProgram("cat")},
                                         {"yes", find::FindProgram("yes")},
                                         {"head", find::FindProgram("head")}});
  EXPECT_THAT(ErrorOf({{"pattern", "**"}}), HasSubstr("More names match than can be compared"));
}

TEST_F(Glob, UnreadableDirectoriesAreReportedBesideTheMatches) {
  if (!ActAsOrdinaryUser()) GTEST_SKIP() << "needs setpriv to run as an ordinary user";
  Write("a.c");
  Write("secret/b.c");
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::none);
  const mcp::ToolResult result = Call(tool_, {{"pattern", "**/*.c"}});
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::owner_all);
  EXPECT_EQ(Structured(result).dump(), json({{"matches", Hosts({"a.c"})}}).dump());
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_EQ(result.more_content[0]["text"],
            "The guest's user may not look at everything, so names may be missing here:\n"
            "find: './secret': Permission denied\n");
  EXPECT_TRUE(Call(tool_, {{"pattern", "*.c"}}).more_content.empty());
}

}  // namespace
}  // namespace tools
