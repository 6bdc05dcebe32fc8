// Listings invented by a hostile guest.

#include <gmock/gmock.h>

#include <optional>

#include "find/find_listing.h"
#include "support/errors.h"
#include "testing/local_guest.h"

namespace find {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The guest runs no script, but prints what a test sets.
class ListingOfALiar : public ::testing::Test {
 protected:
  ListingOfALiar() {
    liar_.set_run([this](const std::string&, shell::OutputSink& sink, const support::Context&) {
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
