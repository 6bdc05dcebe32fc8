// What find_listing says of files that git ignores.

#include <gmock/gmock.h>

#include "unit/find/find_listing_fixture.h"

namespace find {
namespace {

using testing::UnorderedElementsAre;

TEST_F(FindListing, LeavesOutGitUnlessTold) {
  Git("", "init -q .");
  Write("sub/.git/config");
  Write("a");
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("a", "sub"));
  ListingRequest request = Everything();
  request.enters_git = true;
  request.name_filters = {"config"};
  EXPECT_THAT(Names({request}), UnorderedElementsAre(".git/config", "sub/.git/config"));
}

class FindListingIgnored : public FindListing {
 protected:
  void MakeRepository() {
    Git("", "init -q .");
    Write(".gitignore", "*.log\n/build/\nnode_modules/\n");
    Write("a.c");
    Write("b.log");
    Write("kept.log");
    Git("", "add -f kept.log");
    Write("build/x/y");
    Write("sub/node_modules/p/index.js");
    Write("sub/.gitignore", "local\n");
    Write("sub/local");
    Git("", "add -f sub/.gitignore");
    std::filesystem::create_directories(Path("nested"));
    Git("nested", "init -q .");
    Write("nested/.gitignore", "*.tmp\n");
    Write("nested/q.tmp");
    Write("nested/q.c");
  }

  static std::vector<std::string> Expected() {
    return {".gitignore",
            "a.c",
            "b.log ignored",
            "kept.log",
            "build ignored",
            "build/x ignored",
            "build/x/y ignored",
            "sub",
            "sub/node_modules ignored",
            "sub/node_modules/p ignored",
            "sub/node_modules/p/index.js ignored",
            "sub/.gitignore",
            "sub/local ignored",
            "nested",
            "nested/.gitignore",
            "nested/q.tmp ignored",
            "nested/q.c"};
  }
};

TEST_F(FindListingIgnored, AsksEachRepositoryWhatItIgnores) {
  MakeRepository();
  EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(Expected()));
  EXPECT_EQ(guest_.total(), 1);
}

TEST_F(FindListingIgnored, HoldsWhereNothingIsTracked) {
  Git("", "init -q .");
  Write(".gitignore", "*.log\n");
  Write("sub/deep/a.log");
  Write("sub/b.log");
  ListingRequest request = Everything();
  request.regular_files_only = true;
  EXPECT_THAT(Names({request}),
              UnorderedElementsAre(".gitignore", "sub/deep/a.log ignored", "sub/b.log ignored"));
}

TEST_F(FindListingIgnored, HoldsBelowTheTopOfTheRepositoryToo) {
  MakeRepository();
  ListingRequest request = Everything();
  request.directory += "/sub";
  request.name_filters = {"l*", "index.js"};
  EXPECT_THAT(Names({request}),
              UnorderedElementsAre("local ignored", "node_modules/p/index.js ignored"));
}

TEST_F(FindListingIgnored, NothingIsIgnoredInsideAnIgnoredDirectory) {
  MakeRepository();
  Write("sub/node_modules/tracked");
  Git("", "add -f sub/node_modules/tracked");
  ListingRequest request = Everything();
  request.directory += "/sub/node_modules";
  EXPECT_THAT(Names({request}), UnorderedElementsAre("p", "p/index.js", "tracked"));
  request.directory += "/p";
  EXPECT_THAT(Names({request}), UnorderedElementsAre("index.js"));
}

// A read must not run what the repository's configuration names.
TEST_F(FindListingIgnored, NothingIsFetchedInAPartialClone) {
  Git("", "init -q .");
  Git("", "update-index --add --cacheinfo 100644," + std::string(40, '1') + ",.gitignore");
  Git("", "update-index --skip-worktree .gitignore");
  Git("", "config core.repositoryFormatVersion 1");
  Git("", "config extensions.partialClone origin");
  Git("", "config remote.origin.promisor true");
  Git("", "config protocol.allow always");
  Write("a");
  const std::string touch = "touch " + Outside("fetched").string();
  for (const std::string& url :
       {std::string("ssh://host/path"), Path("").string(), "ext::" + touch}) {
    Git("", "config remote.origin.url '" + url + "'");
    Git("", "config core.sshCommand '" + touch + "'");
    Git("", "config remote.origin.uploadpack '" + touch + "'");
    EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("a")) << url;
    EXPECT_FALSE(std::filesystem::exists(Outside("fetched"))) << url;
  }
}

TEST_F(FindListingIgnored, WorksWithBusyBox) {
  MakeRepository();
  if (!OfferBusyBox()) GTEST_SKIP() << "busybox is not installed";
  EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(Expected()));
}

TEST_F(FindListingIgnored, NothingIsIgnoredWithoutGit) {
  MakeRepository();
  guest_.OfferOnly(Outside("programs"), {{"find", FindProgram("find")},
                                         {"stat", FindProgram("stat")},  // for a find of BSD
                                         {"sh", "/bin/sh"},
                                         {"cat", FindProgram("cat")}});
  ListingRequest request = Everything();
  request.name_filters = {"*.log", "q.*"};
  EXPECT_THAT(Names({request}),
              UnorderedElementsAre("b.log", "kept.log", "nested/q.tmp", "nested/q.c"));
}

}  // namespace
}  // namespace find
