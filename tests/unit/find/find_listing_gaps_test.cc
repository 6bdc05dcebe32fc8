// Listings with something in their way: directories that may not be read or vanish, programs that
// die, shells that talk, guests that lie.

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "support/errors.h"
#include "unit/find/find_listing_fixture.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using testing_support::Operation;

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
    EXPECT_THAT(error.what(), testing::HasSubstr("could not run /bin/sh: no shell for you"));
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

TEST_F(ListingOfALiar, TypesAreThoseOfFindsLettersAndOfTheModesOfBusyBoxsStat) {
  using guest::FileType;
  std::string listing;
  for (const char* type : {"f", "d", "l", "p", "s", "c", "b", "D", "x81a4", "x41ed", "xa1ff",
                           "x1180", "xc1ed", "x21b6", "x61b0", "x0"}) {
    listing += std::string("1 ") + type + " 0 ./a//\n";
  }
  EXPECT_EQ(NamesIn(listing).size(), 16U);
  std::vector<FileType> types;
  ListTrees(
      guest_, {Everything()},
      [&](std::size_t, const ListedName& name) { types.push_back(name.type); }, context_);
  std::vector<FileType> expected = {
      FileType::kRegular, FileType::kDirectory,       FileType::kSymlink,     FileType::kFifo,
      FileType::kSocket,  FileType::kCharacterDevice, FileType::kBlockDevice, FileType::kUnknown};
  expected.insert(expected.end(), expected.begin(), expected.begin() + 8);
  EXPECT_EQ(types, expected);
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

/// Runs no script, and prints what a test says.
class LyingShell final : public GuestWithPrograms {
 public:
  shell::RunEnd RunScript(const std::string&, shell::OutputSink& sink,
                          const support::Context&) override {
    shell::RunEnd end;
    if (sink.OnOutput(shell::Stream::kError, ignored) &&
        sink.OnOutput(shell::Stream::kOutput, names)) {
      end.exit_status = exit_status;
    }
    return end;
  }

  std::string names = "walk//\n1 f 1 ./a//\n";
  std::string ignored;
  std::optional<int> exit_status = 0;
};

class AnswerOfALiar : public FindListing {
 protected:
  std::string Error() { return ErrorOf(liar_); }

  LyingShell liar_;
};

TEST_F(AnswerOfALiar, WithoutAnExitStatusIsAnErrorAndNoListing) {
  EXPECT_EQ(Error(), "no error");
  liar_.exit_status.reset();
  EXPECT_THAT(Error(), testing::HasSubstr("did not say how its list of names has ended"));
}

TEST_F(AnswerOfALiar, ThatFailsIsAnErrorWithItsStatus) {
  liar_.exit_status = 5;
  EXPECT_THAT(Error(), testing::HasSubstr("failed with exit status 5"));
}

TEST_F(AnswerOfALiar, IgnoredNamesInARepositoryOfAnEndlessNameAreTooMany) {
  using namespace std::string_literals;
  liar_.ignored = "/0 ./" + std::string(std::size_t{1} << 20, 'r') + "\0"s;
  for (int i = 0; i < 100; ++i) liar_.ignored += std::to_string(i) + "\0"s;
  EXPECT_THAT(Error(), testing::HasSubstr("git ignores too many names"));
}

TEST_F(AnswerOfALiar, IsNoLongerLookedThroughOnceTheCallIsStopped) {
  for (int i = 0; i < 10'000; ++i) liar_.names += "1 f 1 ./" + std::to_string(i) + "//\n";
  support::StopSource source;
  const auto visit = [&](std::size_t, const ListedName&) {
    source.Stop(support::StopReason::kCancelled);
  };
  EXPECT_THROW(ListTrees(liar_, {Everything()}, visit, source.context()), support::Stopped);
}

/// Without a find, and its server makes up what a test says.
class LyingServer final : public GuestWithPrograms {
 public:
  std::vector<guest::DirectoryEntry> List(const std::string& path,
                                          const support::Context& /*context*/) override {
    return list(path);
  }

  std::function<std::vector<guest::DirectoryEntry>(const std::string& path)> list;
};

class WalkOverALiar : public FindListing {
 protected:
  WalkOverALiar() {
    liar_.OfferOnly(Outside("programs"), {{"sh", "/bin/sh"}, {"cat", FindProgram("cat")}});
  }

  std::string Error() { return ErrorOf(liar_); }

  static guest::DirectoryEntry Entry(const std::string& name, guest::FileType type) {
    guest::DirectoryEntry entry;
    entry.name = name;
    entry.attributes.type = type;
    return entry;
  }

  LyingServer liar_;
};

TEST_F(WalkOverALiar, ShortNamesWithoutEndAreTooMany) {
  constexpr std::size_t kMany = 2000;
  const std::string top = Path("").string() + "/";
  liar_.list = [&top](const std::string& path) {
    return std::vector<guest::DirectoryEntry>(
        kMany, Entry("d", path == top ? guest::FileType::kDirectory : guest::FileType::kRegular));
  };
  EXPECT_THAT(Error(), testing::HasSubstr("too many names"));
}

TEST_F(WalkOverALiar, DirectoriesWithinEachOtherWithoutEndCannotExist) {
  liar_.list = [](const std::string&) {
    return std::vector<guest::DirectoryEntry>{
        Entry(std::string(255, 'd'), guest::FileType::kDirectory)};
  };
  EXPECT_THAT(Error(), testing::HasSubstr("cannot exist"));
}

}  // namespace
}  // namespace find
