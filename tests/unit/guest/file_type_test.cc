#include <gtest/gtest.h>
#include <sys/stat.h>

#include "guest/guest.h"

namespace guest {
namespace {

TEST(FileType, IsWhatTheModeTellsWhateverItPermits) {
  for (const std::uint32_t permissions : {0U, 07777U}) {
    EXPECT_EQ(FileTypeOf(S_IFREG | permissions), FileType::kRegular);
    EXPECT_EQ(FileTypeOf(S_IFDIR | permissions), FileType::kDirectory);
    EXPECT_EQ(FileTypeOf(S_IFLNK | permissions), FileType::kSymlink);
    EXPECT_EQ(FileTypeOf(S_IFIFO | permissions), FileType::kFifo);
    EXPECT_EQ(FileTypeOf(S_IFSOCK | permissions), FileType::kSocket);
    EXPECT_EQ(FileTypeOf(S_IFCHR | permissions), FileType::kCharacterDevice);
    EXPECT_EQ(FileTypeOf(S_IFBLK | permissions), FileType::kBlockDevice);
  }
}

TEST(FileType, OfOtherBitsIsUnknown) {
  for (const std::uint32_t mode : {0U, 0777U, 0150000U, 0170000U}) {
    EXPECT_EQ(FileTypeOf(mode), FileType::kUnknown) << mode;
  }
}

}  // namespace
}  // namespace guest
