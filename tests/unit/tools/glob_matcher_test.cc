#include "tools/glob_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tools {
namespace {

/// A path that ends with '/' is a directory.
bool Matches(const std::string& pattern, std::string path, bool case_sensitive = true) {
  const bool is_directory = path.ends_with('/');
  if (is_directory) path.pop_back();
  return GlobMatcher(ParseGlob(pattern), case_sensitive).Match(path, is_directory) !=
         GlobMatch::kNone;
}

struct Row {
  const char* pattern;
  std::vector<const char*> matching;
  std::vector<const char*> others;
};

// All pairs were compared with Python's wcmatch 12.0.1 (GLOBSTAR, BRACE, DOTGLOB, FORCEUNIX). The
// answers differ where
//   - the pattern is "./src//a.txt": wcmatch does not clean patterns;
//   - the name is ".": wcmatch never lets a wildcard match it, and no listing has it;
//   - the name is "": likewise;
//   - a class holds a comma or braces, "[{,}]": wcmatch, as bash, expands the braces first, and
//     would look for "[{]" and "[}]";
//   - `.git` is concerned: what `**` finds is without it here.
const std::vector<Row>& Table() {
  static const std::vector<Row> table = {
      // Names.
      {"a.txt", {"a.txt"}, {"A.txt", "axtxt", "a.txt.bak", "b/a.txt", "a.txt/x"}},
      {"src/a.txt", {"src/a.txt"}, {"a.txt", "src/b/a.txt", "x/src/a.txt"}},
      {"./src//a.txt", {"src/a.txt"}, {}},
      {"..foo", {"..foo"}, {".foo", "foo"}},
      {"a b", {"a b"}, {"ab"}},
      {"a+b(c)^$|.txt", {"a+b(c)^$|.txt"}, {"aab(c)^$|.txt"}},
      {"%2e%2e", {"%2e%2e"}, {".."}},
      {"~", {"~"}, {"root"}},
      {"*", {"a", ".a", ".git", "a b", "a\nb", "ä", "..."}, {"a/b"}},
      {"*.txt", {"a.txt", ".txt", "a.b.txt", "a\n.txt"}, {"a.txt2", "atxt", "d/a.txt", "a.TXT"}},
      {"a*", {"a", "ab", "a.b"}, {"ba", "a/b", "A"}},
      {"*a*b*", {"ab", "xaxbx", "aab"}, {"ba", "a/b", "x"}},
      {"**.txt", {"a.txt", ".txt"}, {"d/a.txt"}},
      {"a**b", {"ab", "axxb"}, {"a/b", "a/x/b"}},
      {"*/*", {"a/b", ".a/.b", ".git/config"}, {"a", "a/b/c"}},
      {"*/*7.txt", {"d1/f7.txt", "d/77.txt"}, {"f7.txt", "d/f8.txt", "d/e/f7.txt"}},
      {"src/*.cc", {"src/a.cc"}, {"src/a/b.cc", "src/a.c", "a.cc"}},
      {"*/", {"a/", ".a/"}, {"a", "a/b/"}},
      {"a/*/", {"a/b/"}, {"a/b", "a/", "a/b/c/"}},
      // One character.
      {"?", {"a", ".", "ä", "日", "\xEF\xBF\xBD", "\n"}, {"ab", "/"}},
      {"??", {"ab", "äö"}, {"a", "ä", "abc", "a/"}},
      {"a?c", {"abc", "a.c", "a?c"}, {"ac", "a/c", "abbc"}},
      {"?.txt", {"a.txt"}, {".txt", "ab.txt"}},
      {"?*", {"a", "ab"}, {"a/b"}},
      // Classes.
      {"[abc]", {"a", "c"}, {"d", "ab", "[abc]"}},
      {"[a-c]x", {"ax", "bx", "cx"}, {"dx", "x", "Bx"}},
      {"[!a-c]x", {"dx", "Ax", "äx", "-x"}, {"ax", "x", "/x"}},
      {"[^a-c]x", {"dx", "^x"}, {"ax", "cx"}},
      {"[]]", {"]"}, {"[", "a"}},
      {"[]a]", {"]", "a"}, {"b"}},
      {"[!]a]", {"b", "["}, {"]", "a"}},
      {"[a-]", {"a", "-"}, {"b"}},
      {"[-a]", {"-", "a"}, {"b"}},
      {"[a\\-c]", {"a", "-", "c"}, {"b", "\\"}},
      {"[\\]]", {"]"}, {"\\"}},
      {"[\\\\]", {"\\"}, {"a"}},
      {"[*?]", {"*", "?"}, {"a"}},
      {"[{,}]", {"{", ",", "}"}, {"a"}},
      {"[ä-ü]", {"ä", "ö", "ü"}, {"a", "z"}},
      {"[日本]", {"日", "本"}, {"語"}},
      {"[+-9]x", {"+x", ".x", "5x"}, {"/x", "ax"}},
      {"a[!b]c", {"aac", "a.c"}, {"abc", "a/c", "ac"}},
      {"[[:digit:]]", {"0", "9"}, {"a", ":", "d"}},
      {"[[:alpha:]_]x", {"ax", "Zx", "_x"}, {"1x", ":x"}},
      {"[![:space:]]", {"a"}, {" ", "\t", "\n"}},
      {"[[:punct:]]", {"!", ".", "~"}, {"a", "1"}},
      {"[[:upper:][:digit:]]", {"A", "1"}, {"a"}},
      {"[[:]", {"[", ":"}, {"a"}},
      {"[a-c-e]", {"a", "b", "c", "-", "e"}, {"d"}},
      {"[.]git", {".git"}, {"xgit"}},
      // Escapes.
      {"\\*", {"*"}, {"a", "\\*"}},
      {"\\?x", {"?x"}, {"ax"}},
      {"\\[id\\].tsx", {"[id].tsx"}, {"i.tsx", "d.tsx"}},
      {"[[]id].tsx", {"[id].tsx"}, {"i.tsx"}},
      {"\\{a,b\\}", {"{a,b}"}, {"a", "b"}},
      {"{a\\,b,c}", {"a,b", "c"}, {"a", "b"}},
      {"\\a", {"a"}, {"\\a"}},
      {"a\\\\b", {"a\\b"}, {"ab"}},
      {"\\ä", {"ä"}, {"a"}},
      // Braces.
      {"*.{ts,tsx}", {"a.ts", "a.tsx"}, {"a.js", "a.", "a.{ts,tsx}"}},
      {"{a,b}{1,2}", {"a1", "a2", "b1", "b2"}, {"a", "1", "ab"}},
      {"{a,{b,c}d}", {"a", "bd", "cd"}, {"b", "d", "ad"}},
      {"{,x}a", {"a", "xa"}, {"x", "xxa"}},
      {"a{,.bak}", {"a", "a.bak"}, {"a."}},
      {"{a}", {"{a}"}, {"a"}},
      {"{}", {"{}"}, {"", "a"}},
      {"{{cookiecutter.slug}}/*.py", {"{{cookiecutter.slug}}/a.py"}, {"cookiecutter.slug/a.py"}},
      {"{{a,b}}", {"{a}", "{b}"}, {"a"}},
      {"a}", {"a}"}, {"a"}},
      {"a,b", {"a,b"}, {"a", "b"}},
      {"{src,test/unit}/*.c", {"src/a.c", "test/unit/a.c"}, {"test/a.c", "unit/a.c"}},
      {"{src/,}a.c", {"src/a.c", "a.c"}, {"x/a.c"}},
      {"{**,x}/a", {"a", "b/a", "x/a"}, {"b"}},
      {"x/{**,y}", {"x/y", "x/z/w"}, {"x"}},
      {"{*,.x}", {"a", ".x"}, {"a/b"}},
      {"{[ab],c?}", {"a", "b", "cd"}, {"c"}},
      {"{日,本}*", {"日a", "本"}, {"語"}},
      // Any depth.
      {"**", {"a", "a/b", "a/b/c", ".a/.b"}, {""}},
      {"**/", {"a/", "a/b/"}, {"a", "a/b"}},
      {"**/*", {"a", "a/b", ".a"}, {}},
      {"**/a", {"a", "b/a", "b/c/a", ".b/a"}, {"ba", "a/b", "b/ba"}},
      {"**/*.txt", {"a.txt", "b/a.txt", "b/c/.txt"}, {"a.txt/b", "a.tx"}},
      {"a/**", {"a/b", "a/b/c", "a/.b"}, {"a", "b/a/c", "ab/c"}},
      {"a/**/b", {"a/b", "a/x/b", "a/x/y/b"}, {"ab", "a/xb", "b", "x/a/b", "a/b/c"}},
      {"a/**/**/b", {"a/b", "a/x/b"}, {"ab"}},
      {"**/**", {"a", "a/b"}, {}},
      {"**/a/**", {"a/x", "b/a/x", "b/a/c/x"}, {"a", "b/a", "x"}},
      {"**/a/*", {"a/x", "b/a/x"}, {"a/x/y", "a"}},
      {"**/a/**/b/*.c", {"a/b/x.c", "z/a/y/b/x.c"}, {"a/x.c", "b/a/x.c"}},
      {"a/**b/c", {"a/b/c", "a/xb/c"}, {"a/x/b/c"}},
      {"*/**/a", {"x/a", "x/y/a"}, {"a"}},
      {"**/\n", {"\n", "a/\n"}, {"a"}},
      {"**/?", {"a", "b/ä"}, {"ab"}},
      // What git keeps for itself.
      {".git", {".git/"}, {}},
      {".g*", {".git/", ".gitignore"}, {}},
      {"**/.git*", {".gitignore", "a/.github/"}, {".git/", "a/.git/", ".git/.gitx"}},
      {"**/config", {"config", "a/config"}, {".git/config", "a/.git/config"}},
      {"**/.git/config", {".git/config", "a/.git/config"}, {"config"}},
      {"**/.git/", {".git/", "a/.git/"}, {"a/"}},
      {".git/**", {".git/config", ".git/refs/heads"}, {".git"}},
      {"{*/config,**/x}", {".git/config", "a/x"}, {".git/x"}},
      {"**/git", {"git", "a/git"}, {".git"}},
  };
  return table;
}

TEST(GlobMatcher, AgreesWithTheTable) {
  std::size_t pairs = 0;
  for (const Row& row : Table()) {
    for (const char* path : row.matching) {
      EXPECT_TRUE(Matches(row.pattern, path)) << row.pattern << " should match " << path;
      ++pairs;
    }
    for (const char* path : row.others) {
      EXPECT_FALSE(Matches(row.pattern, path)) << row.pattern << " should not match " << path;
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 150U);
}

TEST(GlobMatcher, IgnoresCaseOnlyWhenToldTo) {
  EXPECT_FALSE(Matches("*.TXT", "a.txt"));
  EXPECT_TRUE(Matches("*.TXT", "a.txt", false));
  EXPECT_TRUE(Matches("Ä[A-C]", "äb", false));
  EXPECT_TRUE(Matches("**/.GIT/config", ".git/config", false));
  EXPECT_FALSE(Matches("**/CONFIG", ".git/config", false));
}

TEST(GlobMatcher, TellsWhatOnlyAnyDepthFound) {
  const GlobMatcher matcher(ParseGlob("{*.log,**/*.txt}"), true);
  EXPECT_EQ(matcher.Match("a.log", false), GlobMatch::kNamed);
  EXPECT_EQ(matcher.Match("a.txt", false), GlobMatch::kFound);
  EXPECT_EQ(matcher.Match("b/a.log", false), GlobMatch::kNone);
}

TEST(GlobMatcher, AHundredStarsTakeLinearTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  const GlobMatcher matcher(ParseGlob(pattern + "b"), true);
  EXPECT_EQ(matcher.Match(std::string(200, 'a'), false), GlobMatch::kNone);
  EXPECT_EQ(matcher.Match(std::string(200, 'a') + "b", false), GlobMatch::kNamed);
}

TEST(GlobMatcher, CompilesTheLargestPatternThereCanBe) {
  std::string choices = "{";
  for (int i = 0; i < 999; ++i) choices += i == 0 ? "a" : ",a";
  const std::string pattern = choices + ",b}" + std::string(63, '?');
  ASSERT_EQ(ParseGlob(pattern).size(), kMaximumGlobAlternatives);
  EXPECT_TRUE(Matches(pattern, "b" + std::string(63, 'x')));
}

}  // namespace
}  // namespace tools
