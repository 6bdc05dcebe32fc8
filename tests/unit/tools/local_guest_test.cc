#include "testing/local_guest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "testing/temporary_directory.h"

// What the tests of the tools rely on: the guest over local files answers as OpenSSH's server does.
namespace testing_support {
namespace {

namespace fs = std::filesystem;

class LocalGuestTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory.path() / name).string();
  }
  guest::FileErrorCode RealPathError(const std::string& name) {
    try {
      ADD_FAILURE() << guest.RealPath(Path(name), {});
    } catch (const guest::FileError& error) {
      return error.code();
    }
    return guest::FileErrorCode::kFailure;
  }

  TemporaryDirectory directory;
  LocalGuest guest;
};

TEST_F(LocalGuestTest, RealPathAllowsOnlyTheLastNameToBeMissing) {
  EXPECT_EQ(guest.RealPath(Path("missing"), {}), Path("missing"));
  EXPECT_EQ(RealPathError("missing/below"), guest::FileErrorCode::kNotFound);
}

TEST_F(LocalGuestTest, RealPathCallsLoopsAndFilesUsedAsDirectoriesAbsent) {
  fs::create_symlink("loop", Path("loop"));
  std::ofstream(Path("file")) << "";
  EXPECT_EQ(RealPathError("loop"), guest::FileErrorCode::kNotFound);
  EXPECT_EQ(RealPathError("file/below"), guest::FileErrorCode::kNotFound);
}

TEST_F(LocalGuestTest, OpeningAFifoActsAsADeadlineThatPassed) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(guest.Open(Path("fifo"), guest::OpenMode::kRead, 0, {}), support::Stopped);
}

TEST_F(LocalGuestTest, OperationsAreCountedAndMayBeMadeToFail) {
  guest.set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kStat) {
      throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "stat", path, "");
    }
  });
  EXPECT_THROW(guest.Stat("/", {}), guest::FileError);
  (void)guest.LStat("/", {});
  EXPECT_EQ(guest.counts(), "Stat 1, LStat 1");
  EXPECT_EQ(guest.total(), 2);
}

}  // namespace
}  // namespace testing_support
