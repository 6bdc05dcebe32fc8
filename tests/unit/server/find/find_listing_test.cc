// SPDX-License-Identifier: Apache-2.0
// tests/suites/glob.txt has what git ignores.

#include "find/find_listing.h"

#include <gmock/gmock.h>

#include <optional>

#include "testing/background_loop.h"
#include "testing/error_of.h"
#include "unit/server/find/search_fixture.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing_support::LocalGuest;
using Names = std::vector<std::string>;

// False on macOS, where names must be UTF-8.
#ifdef __APPLE__
constexpr bool kNamesAreBytes = false;
#else
constexpr bool kNamesAreBytes = true;
#endif

const Names kAnywhere = {"/"};

/// Lists a directory tree of this machine, also with BusyBox if there is one.
class FindListing : public SearchFixture {
 protected:
  FindListing() {
    const std::string busybox = FindProgram("busybox");
    if (busybox.empty()) return;
    guests_.push_back(&with_busybox_);
    with_busybox_.setup = guest_.setup;
    with_busybox_.OfferOnly(Outside("busybox"), {{"find", busybox},
                                                 {"stat", busybox},
                                                 {"sh", busybox},
                                                 {"cat", busybox},
                                                 {"git", FindProgram("git")}});
  }

  /// Expects these names, with the number of the request if there are several, and " ignored"
  /// behind what is.
  void ExpectNames(const std::vector<ListingRequest>& requests,
                   const testing::Matcher<Names>& expected, const std::string& messages = "^$") {
    for (LocalGuest* guest : guests_) {
      Names names;
      const auto visit = [&](std::size_t request, const ListedName& name) {
        names.push_back((requests.size() > 1 ? std::to_string(request) + ":" : "") +
                        std::string(name.path) + (name.ignored_names > 0 ? " ignored" : ""));
      };
      const int before = guest->total();
      EXPECT_THAT(ListTrees(*guest, requests, roots_, visit, context_),
                  testing::ContainsRegex(messages));
      EXPECT_THAT(names, expected) << (guest == &guest_ ? "" : "BusyBox");
      EXPECT_EQ(guest->total(), before + 1);
    }
  }

  ListingRequest Everything(const std::string& below = "") {
    return {.directory = Path(below).string(), .wants_ignored = true};
  }

  LocalGuest with_busybox_;
  Names roots_ = kAnywhere;
  std::vector<LocalGuest*> guests_ = {&guest_};
};

TEST_F(FindListing, ReportsDirectoriesAndTimes) {
  Write("a.txt", "12345");
  std::filesystem::create_directory_symlink("/etc", Path("link"));
  std::filesystem::create_directory(Path("d"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  SetTime("a.txt", 7, 123456789);
  for (LocalGuest* guest : guests_) {
    Names directories;
    const auto visit = [&](std::size_t, const ListedName& name) {
      if (name.is_directory) directories.emplace_back(name.path);
      if (name.path != "a.txt") return;
      EXPECT_EQ(name.modified, guest == &guest_ ? 1577836807123456789 : 1577836807000000000);
    };
    ListTrees(*guest, {Everything()}, kAnywhere, visit, context_);
    EXPECT_THAT(directories, ElementsAre("d"));
  }
  ExpectNames({Everything()}, UnorderedElementsAre("a.txt", "link", "d", "fifo"));
}

TEST_F(FindListing, NamesMayContainAnyBytes) {
  Names expected = {
      "a\nb",  "x y", "-delete", "'\"$(id)`", kNamesAreBytes ? "\xFF\xFE" : "\x7F\x01",
      "\t\r;", "\\n", "*",       "ä"};
  for (const std::string& name : expected) Write(name);
  Write("\n/ 1 d ./fake");
  expected.insert(expected.end(), {"\n", "\n/ 1 d .", "\n/ 1 d ./fake"});
  ExpectNames({Everything()}, testing::UnorderedElementsAreArray(expected));
}

TEST_F(FindListing, AnswersSeveralRequestsInOneRoundTrip) {
  Write("a/x");
  Write("b/y/z");
  ListingRequest b = Everything("b");
  b.maximum_depth = 1;
  b.wants_ignored = false;
  ExpectNames({Everything("a"), Everything("missing"), b}, ElementsAre("0:x", "2:y"));
}

TEST_F(FindListing, FiltersByNameAndLeavesOutGitUnlessItIsRequested) {
  for (const char* name : {"a.cc", "d.cc/.gitignore", "d.cc/[x]", "d.cc/.git/a.cc"}) Write(name);
  Write("worktree/.git", "gitdir: elsewhere");
  struct Row {
    std::vector<std::string> filters;
    Names found;
  };
  ListingRequest request = Everything();
  for (const bool wants_ignored : {false, true}) {
    request.wants_ignored = wants_ignored;
    for (const auto& [filters, found] :
         {Row{{}, {"a.cc", "d.cc", "d.cc/.gitignore", "d.cc/[x]", "worktree"}},
          Row{{"*.cc", "\\[x\\]"}, {"a.cc", "d.cc", "d.cc/[x]"}},
          Row{{".git*", "a*"}, {"a.cc", "d.cc/.gitignore"}}, Row{{".g[i]t"}, {}}}) {
      request.name_filters = filters;
      ExpectNames({request}, testing::UnorderedElementsAreArray(found));
    }
  }
  request.enters_git = true;
  request.name_filters = {"*.cc"};
  ExpectNames({request}, UnorderedElementsAre("a.cc", "d.cc", "d.cc/.git/a.cc"));
}

TEST_F(FindListing, FollowsNoLinks) {
  Write("real/secret");
  std::filesystem::create_directory_symlink(Path("real"), Path("link"));
  ExpectNames({Everything()}, UnorderedElementsAre("real", "real/secret", "link"));
  // As if it was swapped after the path rules had resolved it.
  ExpectNames({Everything("link")}, IsEmpty(), "find: .: cannot be entered\n");
}

TEST_F(FindListing, EntersLinksWithADepthIfTheyStayBelowARoot) {
  Write("real/x");
  std::filesystem::create_directories(Outside("real-outside/secret"));
  std::filesystem::create_directory_symlink(Path("real"), Path("in"));
  std::filesystem::create_directory_symlink(Outside("real-outside"), Path("out"));
  std::filesystem::create_directory_symlink(Path("gone"), Path("dangling"));
  ListingRequest request = Everything();
  request.wants_ignored = false;
  request.maximum_depth = 2;
  for (const auto& [root, found] : {std::pair(Path("").string(), Names{"in/x"}),
                                    {Path("").string() + "/", {"in/x"}},
                                    {Path("re").string(), {}},
                                    {Path("real").string(), {"in/x"}},
                                    {"/", {"in/x", "out/secret"}}}) {
    Names names = {"real", "real/x", "in", "out", "dangling"};
    names.insert(names.end(), found.begin(), found.end());
    roots_ = {"/elsewhere", root};
    ExpectNames({request}, testing::UnorderedElementsAreArray(names));
  }
}

// Listing must not run programs that the repository's configuration names.
TEST_F(FindListing, NothingIsFetchedInAPartialClone) {
  Git("", "init -q .");
  Git("", "update-index --add --cacheinfo 100644," + std::string(40, '1') + ",.gitignore");
  Git("", "update-index --skip-worktree .gitignore");
  const std::string touch = "touch " + Outside("fetched").string();
  for (const std::string& setting :
       {std::string("core.repositoryFormatVersion 1"),
        std::string("extensions.partialClone origin"), std::string("remote.origin.promisor true"),
        std::string("protocol.allow always"), "core.sshCommand '" + touch + "'",
        "remote.origin.uploadpack '" + touch + "'"}) {
    Git("", "config " + setting);
  }
  Write("a");
  for (const std::string& url :
       {std::string("ssh://host/path"), Path("").string(), "ext::" + touch}) {
    Git("", "config remote.origin.url '" + url + "'");
    ExpectNames({Everything()}, ElementsAre("a"), "");
    EXPECT_FALSE(std::filesystem::exists(Outside("fetched"))) << url;
  }
}

TEST_F(FindListing, ReportsDirectoriesThatMayNotBeRead) {
  if (!ActAsOrdinaryUser(guest_) || !ActAsOrdinaryUser(with_busybox_)) {
    GTEST_SKIP() << "needs setpriv to run as an ordinary user";
  }
  Write("a");
  Write("secret/x");
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::none);
  ExpectNames({Everything()}, UnorderedElementsAre("a", "secret"),
              "\\./secret'?: Permission denied\n");
  ExpectNames({Everything("secret"), Everything()}, testing::Contains("1:a"),
              "find: .: cannot be entered\n");
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::owner_all);
}

TEST_F(FindListing, ADirectoryThatVanishesDuringTheWalkIsNoError) {
  for (int i = 0; i < 50; ++i) Write("d/" + std::to_string(i) + "/x");
  Write("a");
  int i = 0;
  const testing_support::BackgroundLoop vandal([&] {
    std::error_code ignored;
    std::filesystem::rename(Path("d/" + std::to_string(i)), Outside("away"), ignored);
    std::filesystem::rename(Outside("away"), Path("d/" + std::to_string(i)), ignored);
    i = (i + 1) % 50;
  });
  for (int round = 0; round < 20; ++round) ExpectNames({Everything()}, testing::Contains("a"));
}

TEST_F(FindListing, AFindThatIsKilledOrMissingIsAnError) {
  Write("a");
  std::ofstream(Outside("find")) << "#!/bin/sh\n[ \"$2\" = -maxdepth ] || kill -ABRT $$\n";
  std::filesystem::permissions(Outside("find"), std::filesystem::perms::owner_all);
  guest_.OfferOnly(Outside("programs"),
                   {{"find", Outside("find")}, {"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
  const auto list = [&] {
    return ListTrees(
        guest_, {Everything()}, kAnywhere, [](std::size_t, const ListedName&) {}, context_);
  };
  EXPECT_THROW(list(), support::Error);
  std::filesystem::remove(Outside("programs/find"));
  EXPECT_THROW(list(), support::Error);
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

  Names Listed(const std::string& listing) {
    names_ = "walk//\n" + listing;
    Names names;
    messages_ = ListTrees(
        liar_, {request_}, kAnywhere,
        [&](std::size_t, const ListedName& name) { names.emplace_back(name.path); }, context_);
    return names;
  }

  std::string Error() {
    return testing_support::ErrorOf([this] {
      return ListTrees(
          liar_, {request_}, kAnywhere, [](std::size_t, const ListedName&) {}, context_);
    });
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
  EXPECT_THAT(Listed("1.5 f ./a b//\n"), ElementsAre("a b"));
  for (const std::string& path :
       {std::string("./../secret"), std::string("./a/../../../secret"), std::string("./a/./b"),
        std::string("./.."), std::string(".//etc/passwd"), std::string("./a/"),
        std::string("./a\0b", 5), "./" + std::string(kMaxListedPath + 1, 'n')}) {
    EXPECT_THROW(Listed("1.5 f " + path + "//\n"), support::Error) << path.substr(0, 20);
  }
  EXPECT_EQ(Listed("1.5 f ./" + std::string(kMaxListedPath, 'n') + "//\n").size(), 1U);
}

TEST_F(ListingOfALiar, OtherRecordsDoNoHarm) {
  EXPECT_THAT(Listed("//\n//\n x//\n99999999999999999999999 xzz ./a//\n1 f ./b//\nwalk//\n"
                     "1 f ./c//\nfailed x//\nunfinished"),
              ElementsAre("a", "b"));
  EXPECT_EQ(messages_, "");
  Listed("failed " + std::string(2 * kMaxMessages, 'x') + "//\nfailed x//\n");
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
  ignored_ = "/0 ./" + std::string(std::size_t{1} << 20, 'r') + "\n";
  for (int i = 0; i < 100; ++i) ignored_ += std::to_string(i) + "\n";
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
  EXPECT_THROW(ListTrees(liar_, {request_}, kAnywhere, visit, source.context()), support::Stopped);
}

}  // namespace
}  // namespace find
