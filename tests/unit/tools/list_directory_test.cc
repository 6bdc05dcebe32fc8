#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "file_tool_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ListDirectory : public FileToolTest {
 protected:
  ListDirectory() : FileToolTest("list_directory") {}
};

TEST_F(ListDirectory, ALinkSwappedInAfterTheCheckIsNotFollowed) {
  fs::create_directory(work / "sub");
  fs::create_directory_symlink("sub", work / "link");
  fs::create_directory(top / "outside");
  std::ofstream(top / "outside/secret") << "text";
  guest->set_hook([&](guest::Operation operation, const std::string& path) {
    // The roots are resolved after the path.
    if (operation != guest::Operation::kRealPath || path != library.string()) return;
    fs::remove(work / "sub");
    fs::create_directory_symlink(top / "outside", work / "sub");
  });
  EXPECT_THAT(Error({{"path", "/host/work/link"}}), HasSubstr("/host/work/link was replaced"));
}

}  // namespace
}  // namespace tools
