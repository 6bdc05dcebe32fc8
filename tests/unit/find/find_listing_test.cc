#include "find/find_listing.h"

#include <gmock/gmock.h>

#include "testing/file_names.h"
#include "unit/find/find_listing_fixture.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST_F(FindListing, TellsTypeSizeAndTime) {
  Write("a.txt", "12345");
  SetTime("a.txt", 7, 123456789);
  std::filesystem::create_directory_symlink("/etc", Path("link"));
  std::filesystem::create_directory(Path("d"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  std::vector<std::pair<std::string, guest::FileType>> types;
  ListTrees(
      guest_, {Everything()},
      [&](std::size_t, const ListedName& name) {
        types.emplace_back(name.path, name.type);
        if (name.path != "a.txt") return;
        EXPECT_EQ(name.size, 5U);
        EXPECT_EQ(name.modified, 1577836807);
        EXPECT_EQ(name.modified_nanoseconds, 123456789U);
      },
      context_);
  EXPECT_THAT(types, UnorderedElementsAre(std::pair("a.txt", guest::FileType::kRegular),
                                          std::pair("link", guest::FileType::kSymlink),
                                          std::pair("d", guest::FileType::kDirectory),
                                          std::pair("fifo", guest::FileType::kFifo)));
  EXPECT_EQ(guest_.total(), 1);
}

TEST_F(FindListing, AnyBytesInNamesSurvive) {
  const std::string bytes = testing_support::kNamesAreBytes ? "\xFF\xFE" : "\x7F\x01";
  const std::vector<std::string> names = {"a\nb",  "x y", "-delete", "'\"$(id)`", bytes,
                                          "\t\r;", "//.", "\\n",     "*",         "ä"};
  for (const std::string& name : names) {
    if (name != "//.") Write(name);
  }
  Write("\n/ 1 d 1 ./fake");
  std::vector<std::string> expected(names);
  std::erase(expected, "//.");
  expected.insert(expected.end(), {"\n", "\n/ 1 d 1 .", "\n/ 1 d 1 ./fake"});
  EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(expected));
  if (OfferBusyBox()) {
    EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(expected));
  }
}

TEST_F(FindListing, AnswersSeveralRequestsInOneRoundTrip) {
  Write("a/x");
  Write("b/y/z");
  ListingRequest a = Everything();
  a.directory += "/a";
  ListingRequest missing = Everything();
  missing.directory += "/missing";
  ListingRequest b = Everything();
  b.directory += "/b";
  b.maximum_depth = 1;
  EXPECT_THAT(Names({a, missing, b}), ElementsAre("0:x", "2:y"));
  EXPECT_EQ(guest_.total(), 1);
}

TEST_F(FindListing, FiltersByNameAndKind) {
  Write("a.cc");
  Write("d.cc/b.h");
  Write("d.cc/[x]");
  ListingRequest request = Everything();
  request.name_filters = {"*.cc", "\\[x\\]"};
  EXPECT_THAT(Names({request}), UnorderedElementsAre("a.cc", "d.cc", "d.cc/[x]"));
  request.regular_files_only = true;
  EXPECT_THAT(Names({request}), UnorderedElementsAre("a.cc", "d.cc/[x]"));
}

TEST_F(FindListing, LeavesGitOutWhateverTheFiltersAre) {
  Write("a.x");
  Write("d/.git/inside.x");
  Write("d/.gitignore");
  Write("worktree/.git", "gitdir: elsewhere");
  const auto expect_the_others = [this] {
    for (const bool wants_ignored : {false, true}) {
      SCOPED_TRACE(wants_ignored);
      ListingRequest request = Everything();
      request.wants_ignored = wants_ignored;
      EXPECT_THAT(Names({request}), UnorderedElementsAre("a.x", "d", "d/.gitignore", "worktree"));
      request.name_filters = {"*.x"};
      EXPECT_THAT(Names({request}), ElementsAre("a.x"));
      request.name_filters = {".git*", "*.x"};
      EXPECT_THAT(Names({request}), UnorderedElementsAre("a.x", "d/.gitignore"));
      request.name_filters = {".g[i]t"};
      EXPECT_THAT(Names({request}), ElementsAre());
    }
  };
  expect_the_others();
  if (OfferBusyBox()) expect_the_others();
}

TEST_F(FindListing, LinksToDirectoriesAreNotFollowedAndAMovedDirectoryIsNotListed) {
  Write("real/secret");
  std::filesystem::create_directory_symlink(Path("real"), Path("link"));
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("real", "real/secret", "link"));
  ListingRequest through_link = Everything();
  through_link.directory += "/link";  // as if swapped after the path rules had resolved it
  EXPECT_THAT(Names({through_link}), ElementsAre());
}

TEST_F(FindListing, ADirectoryWithQuotesAndSpacesIsOnlyADirectory) {
  const std::string name = "-it's $(touch pwned) `x` \"\\\n;";
  Write(name + "/a");
  ListingRequest request = Everything();
  request.directory += "/" + name;
  EXPECT_THAT(Names({request}), ElementsAre("a"));
}

TEST_F(FindListing, WalksBySftpWhereThereIsNoFind) {
  Write("a/b/c");
  Write("a/.git/config");
  Write("e\nf");
  std::filesystem::create_directory_symlink("/etc", Path("link"));
  guest_.OfferOnly(Outside("programs"), {{"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("a", "a/b", "a/b/c", "e\nf", "link"));
  ListingRequest shallow = Everything();
  shallow.maximum_depth = 2;
  shallow.enters_git = true;
  EXPECT_THAT(Names({shallow}), UnorderedElementsAre("a", "a/b", "a/.git", "e\nf", "link"));
}

}  // namespace
}  // namespace find
