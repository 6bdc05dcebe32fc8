#include "find/find_listing.h"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <thread>

#include "support/errors.h"
#include "testing/file_names.h"
#include "unit/find/search_fixture.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// Lists a directory tree of this machine.
class FindListing : public SearchFixture {
 protected:
  /// The names that ListTrees visits, with the number of the request if there are several, and
  /// " ignored" behind what is.
  std::vector<std::string> Names(const std::vector<ListingRequest>& requests) {
    std::vector<std::string> names;
    const auto visit = [&](std::size_t request, const ListedName& name) {
      names.push_back((requests.size() > 1 ? std::to_string(request) + ":" : "") +
                      std::string(name.path) + (name.ignored_names > 0 ? " ignored" : ""));
    };
    messages_ = ListTrees(guest_, requests, visit, context_);
    return names;
  }

  ListingRequest Everything() {
    ListingRequest request;
    request.directory = Path("").string();
    request.wants_ignored = true;
    return request;
  }

  /// Only BusyBox's find and stat.
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

  std::string messages_;
};

TEST_F(FindListing, ReportsDirectoriesAndTimes) {
  Write("a.txt", "12345");
  std::filesystem::create_directory_symlink("/etc", Path("link"));
  std::filesystem::create_directory(Path("d"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const auto expect = [this](std::int64_t modified) {
    std::vector<std::pair<std::string, bool>> found;
    const auto visit = [&](std::size_t, const ListedName& name) {
      found.emplace_back(name.path, name.is_directory);
      if (name.path == "a.txt") {
        EXPECT_EQ(name.modified, modified);
      }
    };
    ListTrees(guest_, {Everything()}, visit, context_);
    EXPECT_THAT(found, UnorderedElementsAre(std::pair("a.txt", false), std::pair("link", false),
                                            std::pair("d", true), std::pair("fifo", false)));
  };
  SetTime("a.txt", 7, 123456789);
  expect(1577836807123456789);
  EXPECT_EQ(guest_.total(), 1);
  if (OfferBusyBox()) expect(1577836807000000000);
}

TEST_F(FindListing, NamesMayContainAnyBytes) {
  const std::string bytes = testing_support::kNamesAreBytes ? "\xFF\xFE" : "\x7F\x01";
  std::vector<std::string> expected = {"a\nb",  "x y", "-delete", "'\"$(id)`", bytes,
                                       "\t\r;", "\\n", "*",       "ä"};
  for (const std::string& name : expected) Write(name);
  Write("\n/ 1 d ./fake");
  expected.insert(expected.end(), {"\n", "\n/ 1 d .", "\n/ 1 d ./fake"});
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

TEST_F(FindListing, FiltersByName) {
  Write("a.cc");
  Write("d.cc/b.h");
  Write("d.cc/[x]");
  ListingRequest request = Everything();
  request.name_filters = {"*.cc", "\\[x\\]"};
  EXPECT_THAT(Names({request}), UnorderedElementsAre("a.cc", "d.cc", "d.cc/[x]"));
}

TEST_F(FindListing, LeavesOutGitWhateverTheFiltersAre) {
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

TEST_F(FindListing, EntersGitIfRequested) {
  Git("", "init -q .");
  Write("sub/.git/config");
  ListingRequest request = Everything();
  request.enters_git = true;
  request.name_filters = {"config"};
  EXPECT_THAT(Names({request}), UnorderedElementsAre(".git/config", "sub/.git/config"));
}

TEST_F(FindListing, FollowsNoLinks) {
  Write("real/secret");
  std::filesystem::create_directory_symlink(Path("real"), Path("link"));
  EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("real", "real/secret", "link"));
  ListingRequest through_link = Everything();
  through_link.directory += "/link";  // as if swapped after the path rules had resolved it
  EXPECT_THAT(Names({through_link}), ElementsAre());
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
};

TEST_F(FindListingIgnored, EachRepositoryHasItsOwnRules) {
  MakeRepository();
  const std::vector<std::string> expected = {".gitignore",
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
  EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(guest_.total(), 1);
  if (OfferBusyBox()) {
    EXPECT_THAT(Names({Everything()}), testing::UnorderedElementsAreArray(expected));
  }
}

TEST_F(FindListingIgnored, HoldsBelowTheTopOfTheRepositoryButNotInsideAnIgnoredDirectory) {
  MakeRepository();
  Write("sub/node_modules/tracked");
  Git("", "add -f sub/node_modules/tracked");
  ListingRequest request = Everything();
  request.directory += "/sub";
  request.name_filters = {"l*", "index.js"};
  EXPECT_THAT(Names({request}), UnorderedElementsAre("local ignored",
                                                     "node_modules/p/index.js "
                                                     "ignored"));
  request.name_filters = {};
  request.directory += "/node_modules";
  EXPECT_THAT(Names({request}), UnorderedElementsAre("p", "p/index.js", "tracked"));
  request.directory += "/p";
  EXPECT_THAT(Names({request}), UnorderedElementsAre("index.js"));
}

// Listing must not run programs that the repository's configuration names.
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

TEST_F(FindListing, ReportsDirectoriesThatMayNotBeRead) {
  if (!ActAsOrdinaryUser()) GTEST_SKIP() << "needs setpriv to run as an ordinary user";
  Write("a");
  Write("secret/x");
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::none);
  ListingRequest itself = Everything();
  itself.directory += "/secret";
  const auto expect_reports = [&] {
    EXPECT_THAT(Names({Everything()}), UnorderedElementsAre("a", "secret"));
    EXPECT_THAT(messages_, testing::ContainsRegex("\\./secret'?: Permission denied\n"));
    EXPECT_THAT(Names({itself, Everything()}), testing::Contains("1:a"));
    EXPECT_THAT(messages_, HasSubstr("find: .: Permission denied\n"));
  };
  expect_reports();
  if (OfferBusyBox()) expect_reports();
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::owner_all);
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
    EXPECT_EQ(messages_, "");
  }
  done = true;
  vandal.join();
}

TEST_F(FindListing, AFindThatIsKilledOrMissingIsAnError) {
  Write("a");
  std::ofstream(Outside("find")) << "#!/bin/sh\n[ \"$2\" = -maxdepth ] || kill -ABRT $$\n";
  std::filesystem::permissions(Outside("find"), std::filesystem::perms::owner_all);
  guest_.OfferOnly(Outside("programs"),
                   {{"find", Outside("find")}, {"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
  EXPECT_THROW(Names({Everything()}), support::CallError);
  std::filesystem::remove(Outside("programs/find"));
  EXPECT_THROW(Names({Everything()}), support::CallError);
}

/// The guest runs no script, but prints what a test sets.
class ListingOfALiar : public ::testing::Test {
 protected:
  ListingOfALiar() {
    liar_.set_run([this](const shell::Script&, shell::OutputSink& sink, const support::Context&) {
      if (!sink.OnOutput(shell::Stream::kError, ignored_)) return shell::RunEnd();
      return testing_support::Print(sink, names_, exit_status_);
    });
  }

  std::vector<std::string> Names(const std::string& listing) {
    names_ = "walk//\n" + listing;
    std::vector<std::string> names;
    messages_ = ListTrees(
        liar_, {request_},
        [&](std::size_t, const ListedName& name) { names.emplace_back(name.path); }, context_);
    return names;
  }

  std::string Error() {
    try {
      ListTrees(
          liar_, {request_}, [](std::size_t, const ListedName&) {}, context_);
      return "no error";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  const ListingRequest request_ = {.directory = "/mnt", .wants_ignored = true};
  support::Context context_;
  testing_support::LocalGuest liar_;
  std::string names_ = "walk//\n1 f ./a//\n";
  std::string ignored_;
  std::optional<int> exit_status_ = 0;
  std::string messages_;
};

TEST_F(ListingOfALiar, NamesThatCannotExistAreRejected) {
  EXPECT_THAT(Names("1.5 f ./a b//\n"), ElementsAre("a b"));
  for (const std::string& path :
       {std::string("./../secret"), std::string("./a/../../../secret"), std::string("./a/./b"),
        std::string("./.."), std::string(".//etc/passwd"), std::string("./a/"),
        std::string("./a\0b", 5), "./" + std::string(kMaxListedPath + 1, 'n')}) {
    EXPECT_THROW(Names("1.5 f " + path + "//\n"), support::CallError) << path.substr(0, 20);
  }
  EXPECT_EQ(Names("1.5 f ./" + std::string(kMaxListedPath, 'n') + "//\n").size(), 1U);
}

TEST_F(ListingOfALiar, OtherRecordsDoNoHarm) {
  EXPECT_THAT(Names("//\n//\n x//\n99999999999999999999999 xzz ./a//\n1 f ./b//\nwalk//\n"
                    "1 f ./c//\nfailed x//\nunfinished"),
              ElementsAre("a", "b"));
  EXPECT_EQ(messages_, "");
  Names("failed " + std::string(2 * kMaxMessages, 'x') + "//\nfailed x//\n");
  EXPECT_EQ(messages_.size(), kMaxMessages);
}

TEST_F(ListingOfALiar, FailuresAreErrorsAndNoShortListing) {
  EXPECT_EQ(Error(), "no error");
  exit_status_.reset();
  EXPECT_THAT(Error(), HasSubstr("Listing names in the guest failed. Try again."));
  exit_status_ = 134;
  EXPECT_THAT(Error(), HasSubstr("failed with exit status 134"));
  exit_status_ = 97;
  EXPECT_THAT(Error(), HasSubstr("no usable find: install findutils"));
}

TEST_F(ListingOfALiar, TooMuchIsAnError) {
  using namespace std::string_literals;
  ignored_ = "/0 ./" + std::string(std::size_t{1} << 20, 'r') + "\0"s;
  for (int i = 0; i < 100; ++i) ignored_ += std::to_string(i) + "\0"s;
  EXPECT_THAT(Error(), HasSubstr("too many names"));
  ignored_.assign(kMaxIgnoredListing + 1, 'x');
  EXPECT_THAT(Error(), HasSubstr("too many names"));
  ignored_.clear();
  names_.assign(kMaxListing + 1, 'x');
  EXPECT_THAT(Error(), HasSubstr("too many names"));
}

TEST_F(ListingOfALiar, StopsWithTheCall) {
  for (int i = 0; i < 10'000; ++i) names_ += "1 f ./" + std::to_string(i) + "//\n";
  support::StopSource source;
  const auto visit = [&](std::size_t, const ListedName&) {
    source.Stop(support::StopReason::kCancelled);
  };
  EXPECT_THROW(ListTrees(liar_, {request_}, visit, source.context()), support::Stopped);
}

}  // namespace
}  // namespace find
