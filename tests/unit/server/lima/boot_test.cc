// SPDX-License-Identifier: Apache-2.0
#include "lima/boot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;
using testing_support::SetModified;
using testing_support::WriteFile;

class IsOfEarlierBootTest : public testing::Test {
 protected:
  void SetUp() override {
    WriteFile(file_, "1\n");
    SetModified(file_, kWritten);
  }

  void WriteMarker(const std::string& id) const {
    WriteFile(directory_.path() / "boot-session.tmp", id);
  }

  static inline const system_clock::time_point kWritten = system_clock::from_time_t(1'700'000'000);
  testing_support::TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "ha.pid";
};

TEST_F(IsOfEarlierBootTest, AFileThatIsOlderThanTheMargin) {
  EXPECT_FALSE(IsOfEarlierBoot(file_, {"", kWritten - seconds(1)}));
  EXPECT_FALSE(IsOfEarlierBoot(file_, {"", kWritten + kBootMargin}));
  EXPECT_TRUE(IsOfEarlierBoot(file_, {"", kWritten + kBootMargin + seconds(1)}));
}

TEST_F(IsOfEarlierBootTest, AFileWhoseMarkerIsOfAnotherBoot) {
  const Boot boot{"this", kWritten - seconds(1)};
  WriteMarker("other\n");
  EXPECT_TRUE(IsOfEarlierBoot(file_, boot));
  EXPECT_FALSE(IsOfEarlierBoot(file_, {"", boot.start})) << "the system does not say";
  for (const char* id : {"this", "this\n", "", "\n"}) {
    WriteMarker(id);
    EXPECT_FALSE(IsOfEarlierBoot(file_, boot)) << id;
  }
}

TEST_F(IsOfEarlierBootTest, TheTimeCountsBesideAMarker) {
  const Boot boot{"this", kWritten + kBootMargin + seconds(1)};
  WriteMarker("this");
  EXPECT_TRUE(IsOfEarlierBoot(file_, boot));
  std::filesystem::remove(directory_.path() / "boot-session.tmp");
  std::filesystem::create_directory(directory_.path() / "boot-session.tmp");
  EXPECT_TRUE(IsOfEarlierBoot(file_, boot)) << "a marker that cannot be read";
}

TEST_F(IsOfEarlierBootTest, NotAMissingFile) {
  WriteMarker("other");
  std::filesystem::remove(file_);
  EXPECT_FALSE(IsOfEarlierBoot(file_, {"this", system_clock::now()}));
}

TEST(ThisBoot, IsKnown) {
  const Boot boot = ThisBoot();
  EXPECT_GE(boot.id.size(), 32U);
  EXPECT_GT(boot.start, system_clock::from_time_t(0));
  EXPECT_LT(boot.start, system_clock::now());
}

}  // namespace
}  // namespace lima
