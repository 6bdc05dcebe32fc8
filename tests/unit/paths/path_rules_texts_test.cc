// How to make a read-only directory writable, and how to mount one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReadOnlyText : public PathRulesTest {
 protected:
  /// The text for a write to `directory`/new, where `root` is the only root.
  std::string TextFor(const Root& root, const std::vector<Root>& mounts = {}) {
    fs::create_directories(root.guest);
    options.roots = {root};
    options.mounts = mounts;
    try {
      (void)PathRules(options).Resolve(root.host + "/new", Access::kWrite, guest, {});
      return "no error";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }
};

TEST_F(ReadOnlyText, NamesThePathTheRootsAndTheCommands) {
  EXPECT_THAT(Refusal(Guest("library/book"), Access::kWrite),
              AllOf(HasSubstr(Guest("library/book") + " is read-only"),
                    HasSubstr("/host/work (writable), " + Guest("library") + " (read-only)"),
                    HasSubstr("`limactl stop default`, then `limactl edit default --start --set "
                              "'.mounts += [{\"location\":\"" +
                              Guest("library") + "\",\"mountPoint\":\"" + Guest("library") +
                              "\",\"writable\":true}]'`"),
                    Not(HasSubstr("--mount-only"))));
}

TEST_F(ReadOnlyText, NamesTheMountPointAsLimaComparesIt) {
  EXPECT_THAT(TextFor({.host = "/host/library", .guest = Guest("library")}),
              HasSubstr("{\"location\":\"/host/library\",\"mountPoint\":\"" + Guest("library") +
                        "\",\"writable\":true}"));
  EXPECT_THAT(TextFor({.host = "/host/library",
                       .guest = Guest("library"),
                       .written_guest = Guest("library") + "/"}),
              HasSubstr("\"mountPoint\":\"" + Guest("library") + "/\""));
}

TEST_F(ReadOnlyText, IsQuotedForTheShellAndForJson) {
  const std::string quotes = Guest("it's \"b\"");
  EXPECT_THAT(TextFor({.host = quotes, .guest = quotes}),
              HasSubstr("\"location\":\"" + Guest("it'\"'\"'s \\\"b\\\"") + "\""));
}

TEST_F(ReadOnlyText, OfAnAllowedPathNamesItsOption) {
  EXPECT_THAT(
      TextFor({.host = Guest("library"), .guest = Guest("library"), .is_guests_own = true}),
      AllOf(HasSubstr("--allow-path " + Guest("library") + ":w"), Not(HasSubstr("limactl edit"))));
}

TEST_F(ReadOnlyText, OfANarrowedRootNamesItsMount) {
  EXPECT_THAT(TextFor({.host = Guest("library/shelf"),
                       .guest = Guest("library/shelf"),
                       .narrowed_from = Guest("library")},
                      {{.host = Guest("library"), .guest = Guest("library")}}),
              HasSubstr("\"location\":\"" + Guest("library") + "\""));
}

TEST_F(ReadOnlyText, OfAReadOnlyMountBehindAWritableRootNamesTheMount) {
  fs::create_directory_symlink(top / "library", top / "work/link");
  const auto mounts = options.roots;
  EXPECT_THAT(TextFor({.host = "/host/work/link",
                       .guest = Guest("work/link"),
                       .writable = true,
                       .narrowed_from = Guest("work")},
                      mounts),
              AllOf(HasSubstr("it lies in " + Guest("library") +
                              " (read-only). The directories are: /host/work/link (writable)"),
                    HasSubstr("\"location\":\"" + Guest("library") + "\"")));
}

TEST_F(PathRulesTest, WithoutRootsTheTextSaysHowToMountADirectory) {
  options.roots.clear();
  EXPECT_THAT(Refusal("/host/work"),
              AllOf(HasSubstr("may be used: none, as the instance mounts nothing. "),
                    HasSubstr("--start --mount DIRECTORY:w")));
}

}  // namespace
}  // namespace paths
