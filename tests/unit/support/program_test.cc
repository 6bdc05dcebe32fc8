#include "support/program.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_directory.h"

namespace support {
namespace {

namespace fs = std::filesystem;

TEST(FindProgram, FindsTheFirstExecutableFile) {
  const testing_support::TemporaryDirectory directory;
  const auto path = [&](const std::string& name) { return (directory.path() / name).string(); };
  const auto make = [&](const std::string& name, fs::perms permissions) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << "#!/bin/sh\n";
    fs::permissions(path(name), permissions);
  };
  make("a/limactl", fs::perms::owner_read);
  fs::create_directories(path("b/limactl"));
  make("c/limactl", fs::perms::owner_all);
  make("d/limactl", fs::perms::owner_all);
  const std::string all =
      "::/no/such/directory:" + path("a") + ":" + path("b") + ":" + path("c") + ":" + path("d");
  EXPECT_EQ(FindProgram("limactl", all), path("c/limactl"));
  EXPECT_EQ(FindProgram("limactl", path("a")), std::nullopt);
  EXPECT_EQ(FindProgram("limactl", ""), std::nullopt);
}

TEST(OwnProgram, IsThisOne) {
  EXPECT_EQ(OwnProgram().filename(), "support_test");
}

}  // namespace
}  // namespace support
