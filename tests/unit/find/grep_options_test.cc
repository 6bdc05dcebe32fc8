#include <gmock/gmock.h>

#include <optional>

#include "support/errors.h"
#include "unit/find/grep_fixture.h"

namespace find {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Runs each search with git, grep, and BusyBox's grep where there is one. All give the same lines.
class GrepOptions : public Grep {
 protected:
  GrepOptions() {
    const std::string busybox = FindProgram("busybox");
    std::vector<std::pair<std::string, std::string>> few;
    std::vector<std::pair<std::string, std::string>> fewest;
    for (const char* name : {"sh", "find", "sort", "xargs", "grep", "cat"}) {
      few.emplace_back(name, FindProgram(name));
      fewest.emplace_back(name, busybox);
    }
    with_grep_.OfferOnly(Outside("few"), few);
    if (!busybox.empty()) with_busybox_.OfferOnly(Outside("fewest"), fewest);
  }

  std::string Search(SearchRequest request) {
    request.directory = Path("").string();
    if (request.maximum_output_bytes == shell::kDefaultMaxOutput) {
      request.maximum_output_bytes = maximum_output_bytes_;
    }
    std::string lines = SearchContent(guest_, request, context_).lines;
    EXPECT_EQ(SearchContent(with_grep_, request, context_).lines, lines) << "grep";
    if (!with_busybox_.setup.empty()) {
      EXPECT_EQ(SearchContent(with_busybox_, request, context_).lines, lines) << "BusyBox";
    }
    return lines;
  }

  /// "a", "b", … one on each line.
  void WriteLetters(const std::string& name, char last = 'i') const {
    std::string text;
    for (char letter = 'a'; letter <= last; ++letter) text += std::string(1, letter) + "\n";
    Write(name, text);
  }

  testing_support::LocalGuest with_grep_;
  testing_support::LocalGuest with_busybox_;
};

TEST_F(GrepOptions, CaseMayBeIgnored) {
  Write("a", "Needle\nneedle\nNEEDLE\n");
  EXPECT_EQ(Search({.pattern = "need[l]e"}), "a:2:needle\n");
  EXPECT_EQ(Search({.pattern = "need[l]e", .case_sensitive = false}),
            "a:1:Needle\na:2:needle\na:3:NEEDLE\n");
  EXPECT_EQ(Search({.pattern = "nEEDle", .case_sensitive = false, .fixed_strings = true}),
            "a:1:Needle\na:2:needle\na:3:NEEDLE\n");
}

TEST_F(GrepOptions, FixedStringsAreNoExpressions) {
  Write("a", "f(x)\nfx\na.*b\n(?!\n");
  EXPECT_EQ(Search({.pattern = "f(x)", .fixed_strings = true}), "a:1:f(x)\n");
  EXPECT_EQ(Search({.pattern = "f(", .fixed_strings = true}), "a:1:f(x)\n");
  EXPECT_EQ(Search({.pattern = ".*", .fixed_strings = true}), "a:3:a.*b\n");
  EXPECT_EQ(Search({.pattern = "(?!", .fixed_strings = true}), "a:4:(?!\n");
  EXPECT_EQ(Search({.pattern = "--f", .fixed_strings = true}), "");
}

TEST_F(GrepOptions, ContextIsMarkedAndGrouped) {
  WriteLetters("x");
  WriteLetters("y", 'c');
  EXPECT_EQ(
      Search({.pattern = "[bg]", .before = 1, .after = 2}),
      "x-1-a\nx:2:b\nx-3-c\nx-4-d\n--\nx-6-f\nx:7:g\nx-8-h\nx-9-i\n--\ny-1-a\ny:2:b\ny-3-c\n");
  EXPECT_EQ(Search({.pattern = "[bd]", .after = 1}),
            "x:2:b\nx-3-c\nx:4:d\nx-5-e\n--\ny:2:b\ny-3-c\n");
  EXPECT_EQ(Search({.pattern = "[adi]", .before = 2}),
            "x:1:a\nx-2-b\nx-3-c\nx:4:d\n--\nx-7-g\nx-8-h\nx:9:i\n--\ny:1:a\n");
  EXPECT_EQ(Search({.pattern = "[i]", .before = 100, .after = 100}),
            "x-1-a\nx-2-b\nx-3-c\nx-4-d\nx-5-e\nx-6-f\nx-7-g\nx-8-h\nx:9:i\n");
}

TEST_F(GrepOptions, ContextThatLooksLikeAMatchIsNone) {
  Write("a", "x:1:y\n-7-\nneedle\n--\n9:needl\n\n");
  EXPECT_EQ(Search({.pattern = "needle", .before = 9, .after = 9}),
            "a-1-x:1:y\na-2--7-\na:3:needle\na-4---\na-5-9:needl\na-6-\n");
}

TEST_F(GrepOptions, ContextIsRightForNamesThatLookLikeNumbersOfLines) {
  Write("v-1-2.txt", "one\nneedle\n");
  Write("v:1:2.txt", "one\nneedle\n");
  const SearchRequest request = {.directory = Path("").string(), .pattern = "needle", .before = 1};
  const std::string expected =
      "v-1-2.txt-1-one\nv-1-2.txt:2:needle\n--\nv:1:2.txt-1-one\nv:1:2.txt:2:needle\n";
  EXPECT_EQ(SearchContent(guest_, request, context_).lines, expected);
  EXPECT_EQ(SearchContent(with_grep_, request, context_).lines, expected);
}

TEST_F(GrepOptions, ContextWorksWithPatternsThatAreMatchedLineByLine) {
  Write("a", "x else\n{\nelse y\n");
  const SearchRequest request = {
      .directory = Path("").string(), .pattern = R"(else(?!\s*\{))", .after = 1};
  EXPECT_EQ(SearchContent(guest_, request, context_).lines, "a:1:x else\na-2-{\na:3:else y\n");
}

TEST_F(GrepOptions, NamesOnlyNamesEachFileOnce) {
  Write("a", "needle\nneedle\n");
  Write("b \"c\"/d", "needle\n");
  Write("e", "x\n");
  EXPECT_EQ(Search({.pattern = "needle", .names_only = true}), "a\n\"b \\\"c\\\"/d\"\n");
  EXPECT_EQ(Search({.pattern = "needle", .before = 1, .after = 1, .names_only = true}),
            "a\n\"b \\\"c\\\"/d\"\n");
  EXPECT_EQ(Search({.pattern = "needle", .names_only = true, .maximum_per_file = 1}),
            "a\n\"b \\\"c\\\"/d\"\n");
  EXPECT_EQ(Search({.pattern = "needle", .names_only = true, .maximum_total = 1}),
            "a\n[Only 1 of 2 files are shown. Raise total_max_matches for more.]\n");
  EXPECT_EQ(Search({.pattern = "needle", .maximum_output_bytes = 3, .names_only = true}),
            "a\n[Only the first 1 of 2 files are shown. Narrow the search with a path, an include "
            "or a longer pattern.]\n");
  const IncludeFilter include("a*");
  EXPECT_EQ(Search({.pattern = "needle", .include = &include, .names_only = true}), "a\n");
  EXPECT_EQ(Search({.file = "a", .pattern = "needle", .names_only = true}), "a\n");
}

TEST_F(GrepOptions, NoIgnoreSearchesWhatGitIgnoresButNotDotGit) {
  Git("", "init -q .");
  Write(".gitignore", "*.log\n");
  Write("a.log", "needle\n");
  Write(".git/b", "needle\n");
  EXPECT_EQ(Search({.pattern = "needle", .no_ignore = true}), "a.log:1:needle\n");
  EXPECT_EQ(Run("needle"), "");
}

TEST_F(GrepOptions, LimitsOfMatchesCountTheRest) {
  Write("a", "x\nx\nx\n");
  Write("b", "x\ny\nx\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_per_file = 3, .maximum_total = 5}),
            "a:1:x\na:2:x\na:3:x\nb:1:x\nb:3:x\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_per_file = 1}),
            "a:1:x\nb:1:x\n[Only 2 of 5 matching lines, in 2 files, are shown. Raise "
            "max_matches_per_file for more.]\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_total = 4}),
            "a:1:x\na:2:x\na:3:x\nb:1:x\n[Only 4 of 5 matching lines, in 2 files, are shown. "
            "Raise total_max_matches for more.]\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_per_file = 2, .maximum_total = 3}),
            "a:1:x\na:2:x\nb:1:x\n[Only 3 of 5 matching lines, in 2 files, are shown. Raise "
            "max_matches_per_file and total_max_matches for more.]\n");
}

TEST_F(GrepOptions, ContextOfMatchesThatAreCutIsCutToo) {
  WriteLetters("x");
  WriteLetters("y", 'b');
  EXPECT_EQ(Search({.pattern = "[beh]", .before = 1, .after = 1, .maximum_per_file = 1}),
            "x-1-a\nx:2:b\nx-3-c\n--\ny-1-a\ny:2:b\n[Only 2 of 4 matching lines, in 2 files, are "
            "shown. Raise max_matches_per_file for more.]\n");
  EXPECT_EQ(Search({.pattern = "[bc]", .after = 3, .maximum_total = 1}),
            "x:2:b\n[Only 1 of 3 matching lines, in 2 files, are shown. Raise total_max_matches "
            "for more.]\n");
}

TEST_F(GrepOptions, AGroupIsKeptWhollyOrNotAtAll) {
  WriteLetters("x", 'c');
  WriteLetters("y", 'c');
  const std::string all = "x-1-a\nx:2:b\nx-3-c\n--\ny-1-a\ny:2:b\ny-3-c\n";
  maximum_output_bytes_ = all.size();
  EXPECT_EQ(Search({.pattern = "b", .before = 1, .after = 1}), all);
  maximum_output_bytes_ = all.size() - 1;
  EXPECT_EQ(Search({.pattern = "b", .before = 1, .after = 1}),
            "x-1-a\nx:2:b\nx-3-c\n--\ny-1-a\ny:2:b\n[The context after the last match is not "
            "complete.]\n");
  maximum_output_bytes_ = all.size() - 7;
  EXPECT_EQ(Search({.pattern = "b", .before = 1, .after = 1}),
            "x-1-a\nx:2:b\nx-3-c\n[Only the first 1 of 2 matching lines, in 2 files, are shown. "
            "Narrow the search with a path, an include or a longer pattern.]\n");
}

}  // namespace
}  // namespace find
