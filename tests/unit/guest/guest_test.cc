// The operations that are made of others, where a guest cannot ask for several at once.

#include "guest/guest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>

#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace guest {
namespace {

using testing_support::Operation;

constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();

class GuestTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  void WriteFile(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  [[nodiscard]] std::string Contents(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(Path(target), Path(name));
  }
  void Refuse(Operation refused) {
    guest_.set_hook([refused](Operation operation, const std::string& path) {
      if (operation == refused) throw FileError(FileErrorCode::kPermissionDenied, "try", path, "");
    });
  }

  const testing_support::TemporaryDirectory directory_;
  testing_support::LocalGuest guest_;
};

TEST_F(GuestTest, FindRealFileTellsWhereALinkLeadsAndWhatIsThere) {
  WriteFile("file", "text");
  Link("file", "link");
  const RealFile found = guest_.FindRealFile(Path("link"), {});
  EXPECT_EQ(found.path, Path("file"));
  ASSERT_TRUE(found.attributes);
  EXPECT_EQ(found.attributes->size, 4U);
  EXPECT_FALSE(IsItself(found, Path("link"), FileType::kRegular));
  EXPECT_TRUE(IsItself(found, Path("file"), FileType::kRegular));
  EXPECT_FALSE(IsItself(found, Path("file"), FileType::kDirectory));
}

TEST_F(GuestTest, FindRealFileOfANameThatIsNotThereHasNoAttributes) {
  const RealFile found = guest_.FindRealFile(Path("missing"), {});
  EXPECT_EQ(found.path, Path("missing"));
  EXPECT_FALSE(found.attributes);
}

TEST_F(GuestTest, FindRealFileThrowsEveryOtherError) {
  WriteFile("file", "text");
  Refuse(Operation::kLStat);
  EXPECT_THROW(guest_.FindRealFile(Path("file"), {}), FileError);
}

TEST_F(GuestTest, FindAndListListsTheDirectoryItself) {
  std::filesystem::create_directory(Path("directory"));
  WriteFile("directory/file", "text");
  const FoundDirectory found = guest_.FindAndList(Path("directory"), {});
  ASSERT_TRUE(found.entries);
  ASSERT_EQ(found.entries->size(), 1U);
  EXPECT_EQ(found.entries->front().name, "file");
}

TEST_F(GuestTest, FindAndListListsNothingElse) {
  std::filesystem::create_directory(Path("directory"));
  Link("directory", "link");
  WriteFile("file", "text");
  EXPECT_FALSE(guest_.FindAndList(Path("link"), {}).entries);
  EXPECT_FALSE(guest_.FindAndList(Path("file"), {}).entries);
  EXPECT_FALSE(guest_.FindAndList(Path("missing"), {}).entries);
  EXPECT_EQ(guest_.count(Operation::kList), 0);
}

TEST_F(GuestTest, FindAndListLeavesWhyItCannotBeListedToWhoAsks) {
  std::filesystem::create_directory(Path("directory"));
  Refuse(Operation::kList);
  const FoundDirectory found = guest_.FindAndList(Path("directory"), {});
  EXPECT_TRUE(IsItself(found.file, Path("directory"), FileType::kDirectory));
  EXPECT_FALSE(found.entries);
}

TEST_F(GuestTest, FindAndReadReadsTheFileItself) {
  WriteFile("file", "text");
  const FoundFile found = guest_.FindAndRead(Path("file"), 5, {});
  ASSERT_TRUE(found.beginning);
  EXPECT_EQ(found.beginning->bytes, "text");
  EXPECT_EQ(found.beginning->attributes.size, 4U);
}

TEST_F(GuestTest, FindAndReadOpensNothingElse) {
  WriteFile("file", "text");
  Link("file", "link");
  EXPECT_FALSE(guest_.FindAndRead(Path("file"), 4, {}).beginning) << "too large";
  EXPECT_FALSE(guest_.FindAndRead(Path("link"), kAnySize, {}).beginning);
  EXPECT_FALSE(guest_.FindAndRead(Path("missing"), kAnySize, {}).beginning);
  EXPECT_FALSE(guest_.FindAndRead(directory_.path().string(), kAnySize, {}).beginning);
  EXPECT_EQ(guest_.count(Operation::kOpen), 0);
}

TEST_F(GuestTest, FindAndReadLeavesWhyItCannotBeOpenedToWhoAsks) {
  WriteFile("file", "text");
  Refuse(Operation::kOpen);
  const FoundFile found = guest_.FindAndRead(Path("file"), 5, {});
  EXPECT_TRUE(IsItself(found.file, Path("file"), FileType::kRegular));
  EXPECT_FALSE(found.beginning);
}

TEST_F(GuestTest, ListSmallDoesNotListADirectoryOfThatSize) {
  WriteFile("file", "text");
  const std::string path = directory_.path().string();
  const std::uint64_t size = guest_.Stat(path, {}).size;
  EXPECT_FALSE(guest_.ListSmall(path, size, {}));
  EXPECT_EQ(guest_.count(Operation::kList), 0);
  const auto entries = guest_.ListSmall(path, size + 1, {});
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->size(), 1U);
}

TEST_F(GuestTest, WriteAndCloseWritesSyncsAndCloses) {
  guest_.Open(Path("file"), OpenMode::kCreateExclusive, 0600, {})->WriteAndClose("text", {});
  EXPECT_EQ(Contents("file"), "text");
  EXPECT_EQ(guest_.count(Operation::kFileSync), 1);
  EXPECT_EQ(guest_.count(Operation::kFileClose), 1);
}

TEST_F(GuestTest, WriteAndCloseDoesWithoutSyncWhereThereIsNone) {
  guest_.set_offers_sync(false);
  guest_.Open(Path("file"), OpenMode::kCreateExclusive, 0600, {})->WriteAndClose("text", {});
  EXPECT_EQ(Contents("file"), "text");
  EXPECT_EQ(guest_.count(Operation::kFileClose), 1);
}

TEST_F(GuestTest, WriteAndCloseThrowsWhatFailsFirst) {
  Refuse(Operation::kFileSync);
  EXPECT_THROW(
      guest_.Open(Path("file"), OpenMode::kCreateExclusive, 0600, {})->WriteAndClose("text", {}),
      FileError);
  EXPECT_EQ(guest_.count(Operation::kFileClose), 0);
}

}  // namespace
}  // namespace guest
