// SPDX-License-Identifier: Apache-2.0
// What is reported of a project on a mount where not all of it can be examined.

#include "exposure/state.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace exposure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing_support::WriteFile;

/// A project of which each kind of reading finds something.
class BoundedState : public ::testing::Test {
 protected:
  BoundedState() {
    for (const char* file :
         {".git/HEAD", ".git/hooks/pre-commit", ".git/modules/m/HEAD", ".git/objects/x", "Makefile",
          "a/b/Makefile", "a/b/c/package.json", "bare/HEAD", "bare/objects/o", "bare/refs/r",
          "node_modules/x/.git/HEAD", "programs/p", "z/.envrc"}) {
      WriteFile(top_ / file, std::string(1000, '#'));
    }
    WriteFile(top_ / ".git/config", "[alias]\nx = y\nx = z\n");
    std::filesystem::permissions(top_ / "programs/p", std::filesystem::perms::owner_all);
    std::filesystem::create_symlink("z", top_ / ".cargo");
  }

  [[nodiscard]] State Read(const Bounds& bounds) const {
    return ReadState(top_, top_, HostPrograms(), (top_ / "programs").string(), bounds);
  }

  const testing_support::TemporaryDirectory directory_;
  const std::filesystem::path top_ = directory_.path();
};

TEST_F(BoundedState, HasOnlyWhatIsThereAndSaysThatThereIsMore) {
  const State all = Read({});
  ASSERT_FALSE(all.is_cut);
  ASSERT_EQ(all.items.size(), 20);
  std::vector<Bounds> bounds;
  for (std::size_t entries = 0; entries < 40; ++entries) bounds.push_back({.entries = entries});
  constexpr std::size_t kConfiguration = 256 * 1024;
  for (std::size_t bytes = 0; bytes < 22'000; bytes += 700) {
    bounds.push_back({.bytes = bytes});
    bounds.push_back({.bytes = kConfiguration + bytes});
  }
  std::set<std::size_t> sizes;
  for (const Bounds& bound : bounds) {
    SCOPED_TRACE(std::to_string(bound.entries) + " entries, " + std::to_string(bound.bytes));
    const State some = Read(bound);
    EXPECT_EQ(some.is_cut, some.items != all.items);
    const auto changes = Compare(all, some);
    EXPECT_TRUE(changes.empty()) << changes.front().path;
    sizes.insert(some.items.size());
  }
  EXPECT_GT(sizes.size(), 10) << "the bounds cut at many places";
}

TEST_F(BoundedState, HasFirstWhatRunsSoonest) {
  const auto paths = [&](std::size_t entries) {
    std::set<std::string> found;
    for (const auto& [place, item] : Read({.entries = entries}).items) found.insert(place.first);
    return found;
  };
  EXPECT_THAT(paths(0), ElementsAre(".git", ".git/config"));
  EXPECT_THAT(paths(12), IsSupersetOf({".git", ".git/hooks/pre-commit", ".git/modules/m/HEAD"}));
  for (std::size_t entries = 0; entries < 40; ++entries) {
    const auto some = paths(entries);
    EXPECT_TRUE(some.contains("a/b/c/package.json") || !some.contains("node_modules/x/.git"));
    EXPECT_TRUE(some.contains("node_modules/x/.git") || !some.contains(".git/objects/x"));
  }
}

TEST_F(BoundedState, CountsEntriesAlsoAfterAnotherBoundWasMet) {
  EXPECT_THAT(Read({.entries = 5, .bytes = 0}).items, IsEmpty());
}

}  // namespace
}  // namespace exposure
