// Hostile input for searches through the real binary and a real sshd: it is a pattern, an include
// or a name, and nothing else.

#include <gmock/gmock.h>

#include "integration/search_fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SearchInjection : public SearchGuests {
 protected:
  void SetUp() override {
    SearchGuests::SetUp();
    StartGuest("default", UsualPath());
  }
  void TearDown() override { EXPECT_FALSE(fs::exists(pwned)); }

  /// The pattern finds the line that contains it, and no other.
  void ExpectOnlyAPattern(const std::string& pattern, const std::string& line) {
    MakeFile("root/a", "first\n" + line + "\nroot:x:0:0\n");
    EXPECT_EQ(Search(client(), {{"pattern", pattern}}), "a:2:" + line + "\n");
    EXPECT_THAT(Find(client(), {{"pattern", pattern}}), IsEmpty());
  }

  std::string WithInclude(const std::string& include) {
    MakeFile("root/a", "root:x:0:0\n");
    return Search(client(), {{"pattern", "root"}, {"include", include}});
  }

  const std::string pwned = Path("pwned").string();
};

TEST_F(SearchInjection, PatternsAreNoOptionsAndNoShellCode) {
  for (const std::string& pattern :
       {std::string("--open-files-in-pager=sh -c id"), "--open-files-in-pager=touch " + pwned,
        std::string("-Osh"), "-Otouch " + pwned, std::string("-f/etc/passwd"), "--output=" + pwned,
        "'; touch " + pwned + "; '", "\"; touch " + pwned + " #\"", "`touch " + pwned + "`"}) {
    ExpectOnlyAPattern(pattern, pattern);
  }
  ExpectOnlyAPattern("--", "a--b");
  ExpectOnlyAPattern("-e", "x -e y");
  ExpectOnlyAPattern(R"(\$\(touch )" + pwned + R"(\))", "$(touch " + pwned + ")");
  EXPECT_EQ(Search(client(), {{"pattern", "$(touch " + pwned + ")"}}), "");
  EXPECT_THAT(Find(client(), {{"pattern", "$(touch " + pwned + ")/**"}}), IsEmpty());
}

TEST_F(SearchInjection, PatternWithNewlines) {
  MakeFile("root/a", "x\ntouch\n");
  EXPECT_THAT(Search(client(), {{"pattern", "x\ntouch " + pwned + "\n"}}),
              HasSubstr("The pattern contains a line break"));
  EXPECT_THAT(Find(client(), {{"pattern", "a\ntouch " + pwned + "\n*"}}), IsEmpty());
  MakeFile("root/q\nr", "");
  EXPECT_THAT(Find(client(), {{"pattern", "q\n*"}}), ElementsAre("q\nr"));
}

TEST_F(SearchInjection, IncludesAreOnlyPatterns) {
  EXPECT_THAT(WithInclude("../../etc/*"),
              AllOf(HasSubstr("error: Bad pattern"), HasSubstr("'..' cannot leave the directory")));
  EXPECT_THAT(WithInclude("/etc/*"), HasSubstr("error: Bad pattern"));
  for (const std::string& include :
       {std::string(":(exclude)*"), std::string(":!b"), std::string(":(top)*"), std::string(":/"),
        "--output=" + pwned, std::string("--open-files-in-pager=sh"), "';touch " + pwned + ";'",
        "$(touch " + pwned + ")`touch " + pwned + "`", "a\n touch " + pwned}) {
    EXPECT_EQ(WithInclude(include), "") << include;
  }
  MakeFile("root/:(exclude)x", "root\n");
  EXPECT_EQ(WithInclude(":(exclude)*"), ":(exclude)x:1:root\n");
  MakeFile("root/--output=x", "root\n");
  EXPECT_EQ(WithInclude("--output=x"), "--output=x:1:root\n");
}

TEST_F(SearchInjection, GlobsDoNotLeaveTheDirectory) {
  for (const char* pattern :
       {"../../../etc/*", "a/../../etc/*", "{..,a}/*", "\\.\\./*", "**/../*"}) {
    EXPECT_THAT(Find(client(), {{"pattern", pattern}}),
                ElementsAre(HasSubstr("'..' cannot leave the directory")))
        << pattern;
  }
  EXPECT_THAT(Find(client(), {{"pattern", "/etc/*"}, {"path", nullptr}}),
              ElementsAre(AllOf(HasSubstr("error: "), HasSubstr("/etc"))));
}

TEST_F(SearchInjection, GlobsAreNoOptionsOfFind) {
  MakeFile("root/x", "");
  for (const std::string& pattern :
       {std::string("-delete"), "-exec touch " + pwned + " ;", "( -o ) -print -o -fprintf " + pwned,
        "*' -exec touch " + pwned + " ;", "{-delete,-fprint " + pwned + "}/**"}) {
    EXPECT_THAT(Find(client(), {{"pattern", pattern}}), IsEmpty()) << pattern;
  }
  EXPECT_TRUE(fs::exists(root + "/x"));
}

TEST_F(SearchInjection, GlobWithNestedBracesThatMultiply) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "{a,{b,c}}";
  EXPECT_THAT(Find(client(), {{"pattern", pattern}}),
              ElementsAre(HasSubstr("more than 1000 alternatives")));
  EXPECT_THAT(Search(client(), {{"pattern", "x"}, {"include", pattern}}),
              HasSubstr("more than 1000 alternatives"));
}

TEST_F(SearchInjection, RegularExpressionsThatExplode) {
  MakeFile("root/a", std::string(5000, 'a') + "b\n");
  // git fails with an error, or finds no match.
  for (const char* pattern : {"(a+)+$", "(a|aa)+$", "(.*)*x$", "^(([a-z])+.)+[A-Z]([a-z])+$"}) {
    EXPECT_THAT(Search(client(), {{"pattern", pattern}}),
                ::testing::AnyOf("", HasSubstr("error: git grep failed")))
        << pattern;
  }
  EXPECT_THAT(Search(client(), {{"pattern", "((((a{1,100}){1,100}){1,100}){1,100})"}}),
              ::testing::AnyOf(HasSubstr("a:1:"), HasSubstr("error: git grep failed")));
}

}  // namespace
}  // namespace integration
