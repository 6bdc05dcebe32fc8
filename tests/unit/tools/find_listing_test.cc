#include "tools/find_listing.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "support/errors.h"
#include "unit/tools/search_fixture.h"

namespace tools {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using testing_support::Operation;

class FindListing : public SearchFixture {
 protected:
  std::vector<std::string> Names(const std::vector<ListingRequest>& requests) {
    std::vector<std::string> names;
    const auto visit = [&](std::size_t request, const ListedName& name) {
      names.push_back((requests.size() > 1 ? std::to_string(request) + ":" : "") +
                      std::string(name.path) + (name.is_ignored ? " ignored" : ""));
    };
    gaps_ = ListTrees(guest_, requests, visit, context_);
    return names;
  }

  ListingGaps gaps_;

  ListingRequest Everything() {
    ListingRequest request;
    request.directory = Path("").string();
    request.wants_ignored = true;
    return request;
  }

  /// BusyBox's find and stat, and nothing else.
  bool OfferBusyBox() {
    const std::string busybox = FindProgram("busybox");
    if (busybox.empty()) return false;
    guest_.OfferOnly(Outside("programs"), {{"find", busybox},
                                           {"stat", busybox},
                                           {"sh", busybox},
                                           {"cat", busybox},
                                           {"git", FindProgram("git")}});
    return true;
  }
};

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
  const std::vector<std::string> names = {"a\nb",  "x y", "-delete", "'\"$(id)`", "\xFF\xFE",
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

TEST_F(FindListing, LinksToDirectoriesAreNotFollowedAndAMovedDirectoryIsNotListed) {
  Write("real/secret");
  std::filesystem::create_directory_symlink(Path("real"), Path("link"));
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("real", "real/secret", "link"));
  ListingRequest through_link = Everything();
  through_link.directory += "/link";  // as if swapped after the path rules had resolved it
  EXPECT_THAT(Names({through_link}), ElementsAre());
}

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

TEST_F(FindListingIgnored, WorksWithBusyBox) {
  MakeRepository();
  if (!OfferBusyBox()) GTEST_SKIP() << "busybox is not installed";
  EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(Expected()));
}

TEST_F(FindListingIgnored, NothingIsIgnoredWithoutGit) {
  MakeRepository();
  guest_.OfferOnly(Outside("programs"),
                   {{"find", FindProgram("find")}, {"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
  ListingRequest request = Everything();
  request.name_filters = {"*.log", "q.*"};
  EXPECT_THAT(Names({request}),
              UnorderedElementsAre("b.log", "kept.log", "nested/q.tmp", "nested/q.c"));
}

class FindListingWithAFindThatDies : public FindListing {
 protected:
  /// The first `times` times in the middle of its names.
  void LetFindDie(int times) {
    Write("a");
    Write("b");
    const std::filesystem::path program = Outside("dying-find");
    std::ofstream(program) << "#!/bin/sh\n"
                              "echo x >>"
                           << Outside("deaths").string()
                           << "\n"
                              "if [ $(wc -l <"
                           << Outside("deaths").string() << ") -le " << times
                           << " ]; then echo '1 f 0 ./a//'; kill -ABRT $$; fi\n"
                              "exec "
                           << FindProgram("find") << " \"$@\"\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    guest_.OfferOnly(Outside("programs"), {{"find", program},
                                           {"sh", "/bin/sh"},
                                           {"wc", FindProgram("wc")},
                                           {"cat", FindProgram("cat")},
                                           {"git", FindProgram("git")}});
  }
};

TEST_F(FindListingWithAFindThatDies, AsksAgain) {
  LetFindDie(2);
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("a", "b"));
}

TEST_F(FindListingWithAFindThatDies, IsAnErrorInTheEndAndNoShortListing) {
  LetFindDie(100);
  EXPECT_THROW(Names({Everything()}), support::CallError);
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

class FindListingForbidden : public FindListing {
 protected:
  void SetUp() override {
    if (!ActAsOrdinaryUser()) GTEST_SKIP() << "needs setpriv to be somebody else than root";
    Write("a");
    Write("secret/x");
    Write("listed only/y");
    Write("it's 'x'/z");
    Forbid("secret", std::filesystem::perms::none);
    Forbid("it's 'x'", std::filesystem::perms::none);
  }
  void TearDown() override {
    // So that the directory can be removed by an ordinary user too.
    for (const std::filesystem::path& path : forbidden_) {
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
  }
  void Forbid(const std::string& relative, std::filesystem::perms permissions) {
    std::filesystem::permissions(Path(relative), permissions);
    forbidden_.push_back(Path(relative));
  }
  std::vector<std::filesystem::path> forbidden_;
};

TEST_F(FindListingForbidden, DirectoriesThatMayNotBeReadAreToldOf) {
  EXPECT_THAT(Names({Everything()}),
              UnorderedElementsAre("a", "secret", "listed only", "listed only/y", "it's 'x'"));
  EXPECT_EQ(gaps_.count, 2U);
  EXPECT_THAT(gaps_.examples, testing::Contains(Path("secret").string()));
}

TEST_F(FindListingForbidden, BusyBoxTellsOfThemToo) {
  if (!OfferBusyBox()) GTEST_SKIP() << "busybox is not installed";
  EXPECT_THAT(Names({Everything()}),
              UnorderedElementsAre("a", "secret", "listed only", "listed only/y", "it's 'x'"));
  EXPECT_THAT(gaps_.examples,
              UnorderedElementsAre(Path("secret").string(), Path("it's 'x'").string()));
}

TEST_F(FindListingForbidden, TheDirectoryItselfMayBeOneOfThem) {
  ListingRequest request = Everything();
  request.directory += "/secret";
  EXPECT_THAT(Names({request, Everything()}), testing::Contains("1:a"));
  EXPECT_THAT(gaps_.examples, testing::Contains(request.directory));
}

TEST_F(FindListing, TheWalkBySftpTellsOfThemAndNotOfWhatHasVanished) {
  Write("a/x");
  Write("secret/x");
  Write("vanished/x");
  guest_.OfferOnly(Outside("programs"), {{"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
  guest_.set_hook([](Operation operation, const std::string& path) {
    if (operation != Operation::kList) return;
    if (path.find("secret") != std::string::npos) {
      throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "list", path, "");
    }
    if (path.find("vanished") != std::string::npos) std::filesystem::remove_all(path);
  });
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("a", "a/x", "secret", "vanished"));
  EXPECT_EQ(gaps_.count, 1U);
  EXPECT_THAT(gaps_.examples, ElementsAre(Path("secret").string()));
}

TEST_F(FindListing, ADirectoryThatVanishesDuringTheWalkIsNoError) {
  for (int i = 0; i < 50; ++i) Write("d/" + std::to_string(i) + "/x");
  Write("a");
  std::atomic<bool> done = false;
  std::thread vandal([&] {
    for (int i = 0; !done; i = (i + 1) % 50) {
      std::error_code ignored;
      std::filesystem::rename(Path("d/" + std::to_string(i)), Outside("away"), ignored);
      std::filesystem::rename(Outside("away"), Path("d/" + std::to_string(i)), ignored);
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Names({Everything()}), testing::Contains("a"));
    EXPECT_EQ(gaps_.count, 0U);
  }
  done = true;
  vandal.join();
}

TEST_F(FindListing, WhatALoginProfilePrintsIsNoName) {
  Write("a");
  guest_.setup = "echo 'Welcome//'; echo walk//; echo oops >&2; ";
  EXPECT_THAT(Names({Everything()}), ElementsAre("a"));
}

TEST_F(FindListing, AShellThatCannotRunTheScriptIsAnErrorWithItsWords) {
  guest_.setup = "echo no shell for you >&2; exit 3; ";
  try {
    Names({Everything()});
    FAIL();
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("(exit status 3): no shell for you"));
  }
}

/// The guest's find prints what it likes.
class ListingOfALiar : public FindListing {
 protected:
  std::vector<std::string> NamesIn(const std::string& listing) {
    std::ofstream(Outside("listing"), std::ios::binary) << listing;
    std::ofstream(Outside("find")) << "#!/bin/sh\nexec cat " << Outside("listing") << '\n';
    std::filesystem::permissions(Outside("find"), std::filesystem::perms::owner_all);
    if (!std::filesystem::exists(Outside("programs"))) {
      guest_.OfferOnly(
          Outside("programs"),
          {{"find", Outside("find").string()}, {"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
    }
    return Names({Everything()});
  }
};

TEST_F(ListingOfALiar, NamesThatCannotExistAreRefused) {
  EXPECT_THAT(NamesIn("1.5 f 10 ./a b//\n"), ElementsAre("a b"));
  for (const std::string& path :
       {std::string("./../secret"), std::string("./a/../../../secret"), std::string("./a/./b"),
        std::string("./.."), std::string(".//etc/passwd"), std::string("./a/"),
        std::string("./a\0b", 5), "./" + std::string(kMaximumListedPath + 1, 'n')}) {
    EXPECT_THROW(NamesIn("1.5 f 10 " + path + "//\n"), support::CallError) << path.substr(0, 20);
  }
  EXPECT_EQ(NamesIn("1.5 f 10 ./" + std::string(kMaximumListedPath, 'n') + "//\n").size(), 1U);
}

TEST_F(ListingOfALiar, RecordsThatAreNoneDoNoHarm) {
  EXPECT_THAT(NamesIn("//\n//\n x//\n99999999999999999999999 xzz -1 ./a//\nwalk//\n1 f 1 ./b//\n"
                      "unfinished"),
              ElementsAre("a"));
}

TEST_F(ListingOfALiar, WalksThatNobodyAskedForAreNoWalks) {
  EXPECT_THAT(NamesIn("1 f 1 ./a//\nwalk//\nfailed find: './x': Permission denied//\n"
                      "1 f 1 ./b//\n"),
              ElementsAre("a"));
  EXPECT_EQ(gaps_.count, 0U);
}

TEST_F(ListingOfALiar, ComplaintsThatAreNoneDoNoHarm) {
  // In the first two a part of the frame is missing.
  for (const char* words :
       {"find: Permission denied", "find: : Permission denied", "find: x: Permission denied",
        "find: '': Permission denied", "find: ./../../etc: Permission denied", "find: /", ""}) {
    EXPECT_THAT(NamesIn(std::string("failed ") + words + "//\n1 f 1 ./a//\n"), ElementsAre("a"))
        << words;
    for (const std::string& path : gaps_.examples) EXPECT_EQ(path, Path("").string()) << words;
  }
  NamesIn("failed find: './a': Permission denied//\n");
  EXPECT_THAT(gaps_.examples, ElementsAre(Path("a").string()));
}

TEST_F(FindListing, ADirectoryWithQuotesAndSpacesIsOnlyADirectory) {
  const std::string name = "-it's $(touch pwned) `x` \"\\\n;";
  Write(name + "/a");
  ListingRequest request = Everything();
  request.directory += "/" + name;
  EXPECT_THAT(Names({request}), ElementsAre("a"));
}

}  // namespace
}  // namespace tools
