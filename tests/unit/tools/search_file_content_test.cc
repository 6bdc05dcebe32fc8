#include <gmock/gmock.h>

#include <sstream>

#include "find/content_search.h"
#include "testing/file_names.h"
#include "tools/tools.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using guest::Operation;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Search : public SearchToolFixture {
 protected:
  /// A string is the pattern alone.
  std::string Find(const json& arguments) {
    const mcp::ToolResult result =
        Call(tool_, arguments.is_string() ? json{{"pattern", arguments}} : arguments);
    note_ = result.more_content.empty() ? "" : result.more_content[0].at("text").get<std::string>();
    return Structured(result).at("git_grep_output").get<std::string>();
  }
  using SearchToolFixture::ErrorOf;
  std::string ErrorOf(const json& arguments) { return ErrorOf(tool_, arguments); }

  void WithoutGit() {
    guest_.OfferOnly(Outside("programs"), {{"sh", "/bin/sh"},
                                           {"find", find::FindProgram("find")},
                                           {"sort", find::FindProgram("sort")},
                                           {"xargs", find::FindProgram("xargs")},
                                           {"grep", find::FindProgram("grep")}});
  }

  const mcp::Tool tool_ = ToolNamed("search_file_content", *this);
  std::string note_;
};

TEST_F(Search, FindsLimasOwnExampleInOneRoundTrip) {
  Write("src/a.js", "function myFunction() {}\n");
  EXPECT_EQ(Find(R"(function\s+myFunction)"), "src/a.js:1:function myFunction() {}\n");
  EXPECT_EQ(Runs(), 1);
  EXPECT_LE(guest_.total(), 4) << guest_.counts();
  EXPECT_EQ(note_, "");
}

TEST_F(Search, PathMayBeADirectoryAFileOrMissing) {
  Write("src/a.js", "needle\n");
  Write("b.js", "needle\n");
  EXPECT_EQ(Find({{"pattern", "needle"}, {"path", Host("src")}}), "a.js:1:needle\n");
  EXPECT_EQ(Find({{"pattern", "needle"}, {"path", Host("src/a.js")}}), "a.js:1:needle\n");
  EXPECT_EQ(Find({{"pattern", "needle"}}), "b.js:1:needle\nsrc/a.js:1:needle\n");
  EXPECT_EQ(Find({{"pattern", "needle"}, {"path", Host("b.js")}, {"include", "*.c"}}), "");
  EXPECT_THAT(
      ErrorOf({{"pattern", "x"}, {"path", Host("missing")}}),
      HasSubstr("There is no file or directory /Users/me/project/missing. List the directory"));
  EXPECT_THAT(ErrorOf({{"pattern", "x"}, {"path", "/etc"}}), HasSubstr("/etc"));
}

// git's search of the whole file would miss these lines.
TEST_F(Search, OtherLinesDoNotKeepALineFromMatching) {
  Write("a", "x else\n{\nelse y\nabc\n#c\nfoo  \n\nbar\n");
  EXPECT_EQ(Find(R"(else(?!\s*\{))"), "a:1:x else\na:3:else y\n");
  EXPECT_EQ(Find(R"(foo\s*\K)"), "a:6:foo  \n");
  EXPECT_EQ(Find(R"(^[^#]++c$)"), "");
  EXPECT_EQ(Find(R"(^(?>[^#]*)$)"),
            "a:1:x else\na:2:{\na:3:else y\na:4:abc\na:6:foo  \na:7:\na:8:bar\n");
  EXPECT_THAT(ErrorOf({{"pattern", "(?!x"}}), HasSubstr("missing"));
  EXPECT_EQ(Find(R"(c\z)"), "a:4:abc\na:5:#c\n");
  EXPECT_EQ(Find(R"(\Ael)"), "a:3:else y\n");
}

TEST_F(Search, OnlyRegularFilesAndDirectoriesAreSearched) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  Write("a", "needle");
  EXPECT_THAT(ErrorOf({{"pattern", "x"}, {"path", Host("fifo")}}),
              HasSubstr("neither a directory nor a regular file"));
  EXPECT_EQ(Find("needle"), "a:1:needle\n");
}

TEST_F(Search, IncludeIsAPatternForPathsWithBraces) {
  Write("a.ts", "needle");
  Write("src/b.tsx", "needle");
  Write("src/deep/c.ts", "needle");
  Write("d.js", "needle");
  Write(".e.ts", "needle");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"*.{ts,tsx}", ".e.ts a.ts src/b.tsx src/deep/c.ts "},
      {"src/*.{ts,tsx}", "src/b.tsx "},
      {"src/**/*.ts", "src/deep/c.ts "},
      {"**/*.js", "d.js "},
      {"src", ""},
      {"src/", "src/b.tsx src/deep/c.ts "},
      {"src/deep", "src/deep/c.ts "},
      {"d.js", "d.js "},
      {"[a-d].?s", "a.ts d.js src/deep/c.ts "},
      {"**", ".e.ts a.ts d.js src/b.tsx src/deep/c.ts "},
      {"*", ".e.ts a.ts d.js src/b.tsx src/deep/c.ts "},
      {":(exclude)*", ""},
      {"--*", ""},
  };
  const auto check = [&] {
    for (const auto& [include, expected] : cases) {
      std::string files;
      std::istringstream lines(Find({{"pattern", "needle"}, {"include", include}}));
      for (std::string line; std::getline(lines, line);) {
        files += line.substr(0, line.find(':')) + " ";
      }
      EXPECT_EQ(files, expected) << include;
    }
  };
  check();
  WithoutGit();
  check();
  EXPECT_THAT(ErrorOf({{"pattern", "x"}, {"include", "../../etc/*"}}), HasSubstr("'..' cannot"));
  EXPECT_THAT(ErrorOf({{"pattern", "x"}, {"include", "/etc/*"}}), HasSubstr("cannot begin with"));
  EXPECT_THAT(ErrorOf({{"pattern", "x"}, {"include", "a[b"}}), HasSubstr("Bad pattern \"a[b\""));
}

TEST_F(Search, RejectsEmptyLongAndMultilinePatterns) {
  EXPECT_THAT(ErrorOf({{"pattern", ""}}), HasSubstr("The pattern is empty"));
  EXPECT_THAT(ErrorOf({{"pattern", "a\nb"}}), HasSubstr("line break"));
  EXPECT_THAT(ErrorOf({{"pattern", std::string("a\0b", 3)}}), HasSubstr("NUL"));
  EXPECT_THAT(ErrorOf({{"pattern", std::string(kMaxSearchPattern + 1, 'x')}}),
              HasSubstr("16385 bytes"));
  EXPECT_EQ(guest_.total(), 0);
  Write("a", "x");
  EXPECT_EQ(Find(std::string(kMaxSearchPattern, 'x')), "");
  EXPECT_THAT(ErrorOf({{"pattern", "("}}), HasSubstr("missing"));
}

TEST_F(Search, TakesOptions) {
  Write(".gitignore", "c\n");
  Write("a", "one\nX.y\nxzy\nfour\n");
  Write("c", "x.y\n");
  const auto find = [this](json options) {
    options["pattern"] = options.value("pattern", "x.y");
    return Find(options);
  };
  EXPECT_EQ(find({{"case_sensitive", true}, {"fixed_strings", false}, {"context", 0}}),
            "a:3:xzy\n");
  EXPECT_EQ(find({{"case_sensitive", false}}), "a:2:X.y\na:3:xzy\n");
  EXPECT_EQ(find({{"fixed_strings", true}}), "");
  EXPECT_EQ(find({{"fixed_strings", true}, {"case_sensitive", false}, {"no_ignore", true}}),
            "a:2:X.y\nc:1:x.y\n");
  EXPECT_EQ(find({{"context", 1}}), "a-2-X.y\na:3:xzy\na-4-four\n");
  EXPECT_EQ(find({{"context", 1}, {"before", 2}}), "a-1-one\na-2-X.y\na:3:xzy\na-4-four\n");
  EXPECT_EQ(find({{"context", 1}, {"after", 0}}), "a-2-X.y\na:3:xzy\n");
  EXPECT_EQ(find({{"names_only", true}, {"context", 1}}), "a\n");
  EXPECT_EQ(find({{"pattern", "o"}, {"max_matches_per_file", 1}}),
            "a:1:one\n[Only 1 of 2 matching lines, in 1 files, are shown. Raise "
            "max_matches_per_file for more.]\n");
  EXPECT_THAT(find({{"pattern", "o"}, {"total_max_matches", 1}}), HasSubstr("total_max_matches"));
}

TEST_F(Search, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  Write(testing_support::kNamesAreBytes ? "caf\xE9" : "caf\xEF\xBF\xBD", "needle \xFF\n");
  EXPECT_EQ(Find("needle"), "caf\xEF\xBF\xBD:1:needle \xEF\xBF\xBD\n");
  WithoutGit();
  EXPECT_EQ(Find("needle"), "caf\xEF\xBF\xBD:1:needle \xEF\xBF\xBD\n");
}

TEST_F(Search, ALongLineIsCutBetweenCharacters) {
  const auto repeat = [](const std::string& text, std::size_t times) {
    std::string repeated;
    for (std::size_t i = 0; i < times; ++i) repeated += text;
    return repeated;
  };
  const std::size_t whole = find::kMaxGrepLine / 3;  // one byte more is kept, of the next
  static_assert(find::kMaxGrepLine % 3 == 1);
  Write("a", repeat("\u20AC", whole + 2) + "\n");
  const std::string expected = "a:1:" + repeat("\u20AC", whole) + "… [6 bytes left out]\n";
  EXPECT_EQ(Find("\u20AC"), expected);
  WithoutGit();
  EXPECT_EQ(Find("\u20AC"), expected);
}

TEST_F(Search, TheTimeLimitIsAnErrorThatAdvises) {
  Write("a", "x");
  const mcp::Tool hasty =
      ToolNamed("search_file_content", *this, {.time_limit = std::chrono::seconds(0)});
  EXPECT_THAT(ErrorOf(hasty, {{"pattern", "x"}}),
              AllOf(HasSubstr("The search in the working directory took longer than 0s"),
                    HasSubstr("more specific")));
}

TEST_F(Search, ACancelIsNotTheTimeLimit) {
  support::StopSource stop;
  stop.Stop(support::StopReason::kCancelled);
  context_ = stop.context();
  EXPECT_THROW(Find("x"), support::Stopped);
}

TEST_F(Search, SaysWhenTheGuestHasNoGit) {
  Write("a", "needle\n");
  WithoutGit();
  EXPECT_EQ(Find("needle"), "a:1:needle\n");
  EXPECT_EQ(note_,
            "The guest has no git: `grep -E` was used, and files that git would ignore were "
            "searched too.");
  EXPECT_EQ(Find({{"pattern", "needle"}, {"path", Host("a")}}), "a:1:needle\n");
}

}  // namespace
}  // namespace tools
