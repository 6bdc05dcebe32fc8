#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "file_tool_fixture.h"
#include "testing/file_names.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class ListDirectory : public FileToolTest {
 protected:
  ListDirectory() : FileToolTest("list_directory") {}

  json Listing() { return Structured(Call({{"path", "/host/work"}})); }
  json FirstEntry() { return Listing().at("entries").at(0); }
  std::string JoinedNames() {
    const json structured = Listing();
    std::string names;
    for (const json& entry : structured.at("entries")) {
      names += (names.empty() ? "" : " ") + entry.at("name").get<std::string>();
    }
    return names;
  }
};

TEST_F(ListDirectory, EntriesAreSortedByNameByteByByte) {
  for (const char* name : {"b", "C", "a", ".hidden", "\u00e9", "a.b", "ab"}) Put(name, "");
  EXPECT_EQ(JoinedNames(), ".hidden C a a.b ab b \u00e9");
}

TEST_F(ListDirectory, AFileHasSizeModeAndTime) {
  Put("file", "12345");
  fs::permissions(work / "file", fs::perms(0640));
  const timespec times[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (work / "file").c_str(), times, 0), 0);
  EXPECT_EQ(FirstEntry(), json({{"name", "file"},
                                {"size", 5},
                                {"mode", 0640},
                                {"time", "2023-11-14T22:13:20Z"},
                                {"is_dir", false}}));
}

TEST_F(ListDirectory, LinkIsListedAsALink) {
  fs::create_directory_symlink("/", work / "link");
  const json entry = FirstEntry();
  EXPECT_EQ(entry["mode"].get<std::int64_t>() & (std::int64_t{1} << 27), std::int64_t{1} << 27);
  EXPECT_EQ(entry["is_dir"], false);
}

TEST_F(ListDirectory, NameThatIsNotUtf8ShowsReplacementCharacters) {
  if (!testing_support::kNamesAreBytes) GTEST_SKIP() << "names are always UTF-8 here";
  Put("bad\xFF\xFEname", "");
  EXPECT_EQ(JoinedNames(), "bad\uFFFD\uFFFDname");
}

TEST_F(ListDirectory, ErrorsSayWhatIsWrong) {
  Put("file", "");
  EXPECT_EQ(Error({{"path", "/host/work/file"}}),
            "/host/work/file is a regular file, not a directory; give the directory that it is in");
  EXPECT_EQ(Error({{"path", "/host/work/none"}}),
            "/host/work/none does not exist; list the directory above it");
  EXPECT_THAT(Error({{"path", "/etc"}}), HasSubstr("outside"));
  FailAt(guest::Operation::kOpenDirectory, guest::FileErrorCode::kPermissionDenied);
  EXPECT_EQ(Error({{"path", "/host/work"}}), "permission denied");
}

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
