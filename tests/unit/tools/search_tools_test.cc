// glob and search_file_content: what tests/suites/{glob,search_file_content}.txt cannot show.

#include <gmock/gmock.h>

#include "tools/tools.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class SearchTools : public SearchToolFixture {
 protected:
  /// The note beside a result, if there is one.
  std::string NoteOf(const mcp::Tool& tool, const json& arguments) {
    const mcp::ToolResult result = Call(tool, arguments);
    EXPECT_LE(result.more_content.size(), 1U);
    return result.more_content.empty() ? "" : result.more_content[0].at("text").get<std::string>();
  }

  const mcp::Tool glob_ = ToolNamed("glob", *this);
  const mcp::Tool search_ = ToolNamed("search_file_content", *this);
};

TEST_F(SearchTools, ManyBeginningsTakeOneListing) {
  std::string pattern = "{";
  for (int i = 0; i < 40; ++i) {
    Write("d" + std::to_string(i) + "/x");
    pattern += (i > 0 ? ",d" : "d") + std::to_string(i);
  }
  EXPECT_EQ(Structured(Call(glob_, {{"pattern", pattern + "}/x"}})).at("matches").size(), 40U);
  EXPECT_EQ(Runs(), 1);
  EXPECT_EQ(Structured(Call(glob_, {{"pattern", "{d1,d2,d3}/**/x"}})).at("matches").size(), 3U);
  EXPECT_EQ(Runs(), 2);
}

TEST_F(SearchTools, UnreadableDirectoriesAreReportedBesideTheMatches) {
  if (!ActAsOrdinaryUser()) GTEST_SKIP() << "needs setpriv to run as an ordinary user";
  Write("a.c");
  Write("secret/b.c");
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::none);
  const json matches = Structured(Call(glob_, {{"pattern", "**/*.c"}})).at("matches");
  const std::string note = NoteOf(glob_, {{"pattern", "**/*.c"}});
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::owner_all);
  EXPECT_EQ(matches, json::array({Host("a.c")}));
  EXPECT_EQ(note,
            "The guest's user may not look at everything, so names may be missing here:\n"
            "find: './secret': Permission denied\n");
  EXPECT_EQ(NoteOf(glob_, {{"pattern", "*.c"}}), "");
}

TEST_F(SearchTools, ANoteSaysThatTheGuestHasNoGit) {
  Write("a", "needle\n");
  EXPECT_EQ(NoteOf(search_, {{"pattern", "needle"}}), "");
  guest_.OfferOnly(Outside("programs"), {{"sh", "/bin/sh"},
                                         {"find", find::FindProgram("find")},
                                         {"sort", find::FindProgram("sort")},
                                         {"xargs", find::FindProgram("xargs")},
                                         {"grep", find::FindProgram("grep")}});
  EXPECT_EQ(NoteOf(search_, {{"pattern", "needle"}}),
            "The guest has no git: `grep -E` was used, and files that git would ignore were "
            "searched too.");
}

TEST_F(SearchTools, PatternsAreCheckedBeforeTheGuestIsAsked) {
  EXPECT_THAT(ErrorOf(search_, {{"pattern", ""}}), HasSubstr("The pattern is empty"));
  EXPECT_THAT(ErrorOf(search_, {{"pattern", "a\nb"}}), HasSubstr("line break"));
  EXPECT_THAT(ErrorOf(search_, {{"pattern", std::string(kMaxSearchPattern + 1, 'x')}}),
              HasSubstr("16385 bytes"));
  EXPECT_EQ(guest_.total(), 0);
  Write("a", "x");
  const json longest = {{"pattern", std::string(kMaxSearchPattern, 'x')}};
  EXPECT_EQ(Structured(Call(search_, longest)).at("git_grep_output"), "");
}

TEST_F(SearchTools, TheTimeLimitIsAnErrorThatAdvises) {
  Write("a", "x");
  const mcp::Tool hasty =
      ToolNamed("search_file_content", *this, {.time_limit = std::chrono::seconds(0)});
  EXPECT_THAT(ErrorOf(hasty, {{"pattern", "x"}}),
              AllOf(HasSubstr("The search in the working directory took longer than 0s"),
                    HasSubstr("more specific")));
}

TEST_F(SearchTools, ACancelIsNotTheTimeLimit) {
  support::StopSource stop;
  stop.Stop(support::StopReason::kCancelled);
  context_ = stop.context();
  EXPECT_THROW(Call(search_, {{"pattern", "x"}}), support::Stopped);
}

}  // namespace
}  // namespace tools
