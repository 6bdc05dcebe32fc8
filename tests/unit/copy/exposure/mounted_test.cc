// SPDX-License-Identifier: Apache-2.0
// What is reported of a project on a mount where not all of it can be examined.

#include "exposure/mounted.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace exposure {
namespace {

using testing_support::WriteFile;

/// A project of which each kind of reading finds something.
class BoundedState : public ::testing::Test {
 protected:
  BoundedState() {
    for (const char* file :
         {".git/HEAD", ".git/hooks/pre-commit", ".git/modules/m/hooks/x", ".git/objects/x",
          "a/b/.envrc", "a/b/c/.mcp.json", "bare/HEAD", "named/x", "z/.envrc"}) {
      WriteFile(top_ / file, std::string(1000, '#'));
    }
    WriteFile(top_ / ".git/config", "[alias]\nx = y\nx = z\n[core]\nhooksPath = named\n");
    std::filesystem::create_symlink("z", top_ / ".claude");
  }

  [[nodiscard]] State Read(std::size_t max_read) const {
    return ReadState(top_, paths::HostPrograms(), max_read);
  }

  const testing_support::TemporaryDirectory directory_;
  const std::filesystem::path top_ = directory_.path();
};

TEST_F(BoundedState, HasOnlyWhatIsThereAndSaysThatThereIsMore) {
  const State all = Read(kMaxRead);
  ASSERT_FALSE(all.is_cut);
  ASSERT_EQ(all.items.size(), 8);
  std::set<std::size_t> sizes;
  constexpr std::size_t kConfiguration = 256 * 1024;
  for (std::size_t bytes = 0; bytes < 14'000; bytes += 100) {
    for (const std::size_t bound : {bytes, kConfiguration + bytes}) {
      SCOPED_TRACE(bound);
      const State some = Read(bound);
      EXPECT_TRUE(some.is_cut || some.items == all.items);
      const auto changes = Compare(all, some);
      EXPECT_TRUE(changes.empty()) << changes.front().path;
      sizes.insert(some.items.size());
    }
  }
  EXPECT_GT(sizes.size(), 6) << "the bound cuts at many places";
}

TEST_F(BoundedState, HasFirstWhatGitObeys) {
  for (std::size_t bytes = 0; bytes < 300'000; bytes += 1000) {
    const State some = Read(bytes);
    const bool has_git = some.items.contains({".git/hooks/pre-commit", ""}) &&
                         some.items.contains({".git/config", "alias.x"});
    EXPECT_TRUE(has_git || !some.items.contains({"z/.envrc", ""})) << bytes;
  }
}

}  // namespace
}  // namespace exposure
