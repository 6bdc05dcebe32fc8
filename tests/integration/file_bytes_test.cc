// What read_file says of encodings and binary files, its caps, directories of any size, names from
// the list of attacks that no other test has, and what git hides from searches.

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "integration/command_fixture.h"

namespace integration {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::string_literals;

class FileBytes : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{root, "", true}});
  }
  const std::string root = Path("root").string();
};

// Encodings.

TEST_F(FileBytes, Utf16IsNamedAndRefusedAndNeverOverwrittenWithReplacementCharacters) {
  for (const std::string& bytes : {"\xFF\xFEh\0i\0"s, "\xFE\xFF\0h\0i"s}) {
    MakeFile("root/a.txt", bytes);
    EXPECT_THAT(ReadRefusal(root + "/a.txt"), AllOf(HasSubstr("UTF-16"), HasSubstr("6 bytes")));
    EXPECT_THAT(Refusal("write_file", {{"path", root + "/a.txt"}, {"content", "\uFFFD\uFFFDh i "}}),
                HasSubstr("not UTF-8"));
    EXPECT_EQ(ReadFile(Path("root/a.txt")), bytes);
  }
}

TEST_F(FileBytes, Latin1ShowsReplacementCharactersInBothFormsOfTheResult) {
  MakeFile("root/a.txt", "caf\xE9\n");
  const json result = client().CallTool("read_file", {{"path", root + "/a.txt"}});
  EXPECT_EQ(result["structuredContent"]["content"], "caf\uFFFD\n");
  EXPECT_THAT(result["content"][1]["text"].get<std::string>(),
              AllOf(HasSubstr("not valid UTF-8: 1"), HasSubstr("U+FFFD")));
  // A client that shows only structuredContent loses the note, but not the bytes.
  Refusal("write_file", {{"path", root + "/a.txt"}, {"content", "caf\uFFFD!\n"}});
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "caf\xE9\n");
}

TEST_F(FileBytes, ByteOrderMarkOfUtf8IsContent) {
  MakeFile("root/a.txt", "\xEF\xBB\xBFtext");
  EXPECT_EQ(Read(root + "/a.txt"), "\xEF\xBB\xBFtext");
}

// Caps.

TEST_F(FileBytes, ThirtyTwoMebibytesComeWholeAndOneByteMoreInParts) {
  const std::string whole = std::string((std::size_t{32} << 20) - 2, 'a') + "\nb";
  MakeFile("root/a.txt", whole);
  EXPECT_TRUE(Read(root + "/a.txt") == whole);
  std::ofstream(Path("root/a.txt"), std::ios::app) << "c";
  EXPECT_THAT(ReadRefusal(root + "/a.txt"),
              AllOf(HasSubstr("33554433 bytes"), HasSubstr("offset"), HasSubstr("limit")));
  EXPECT_EQ(
      Call("read_file", {{"path", root + "/a.txt"}, {"offset", 1}, {"limit", 1}}).at("content"),
      "bc");
}

TEST_F(FileBytes, ImageOfFiveMebibytesIsShownAndALargerOneRefused) {
  const std::string head = "\x89PNG\r\n\x1a\n"s;
  MakeFile("root/a.png", head + std::string((std::size_t{5} << 20) - head.size(), '\0'));
  const json result = client().CallTool("read_file", {{"path", root + "/a.png"}});
  EXPECT_EQ(result["content"][1]["type"], "image");
  EXPECT_THAT(result["structuredContent"]["content"].get<std::string>(), HasSubstr("PNG image"));
  std::ofstream(Path("root/a.png"), std::ios::app) << "x";
  EXPECT_THAT(ReadRefusal(root + "/a.png"), HasSubstr("5242881 bytes"));
}

// Directories.

TEST_F(FileBytes, DirectoryOfAHundredThousandEntriesIsListed) {
  constexpr int kEntries = 100'000;
  MakeDirectory("root/large");
  for (int i = 0; i < kEntries; ++i) {
    std::ofstream file(Path("root/large/" + std::to_string(i)));
    ASSERT_TRUE(file) << i;
  }
  const auto before = std::chrono::steady_clock::now();
  const json result =
      client().CallTool("list_directory", {{"path", root + "/large"}}, std::chrono::seconds(120));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - before);
  const json& entries = result.at("structuredContent").at("entries");
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(kEntries));
  EXPECT_EQ(entries.front().at("name"), "0");
  EXPECT_EQ(entries.back().at("name"), "99999");
  std::cout << kEntries << " entries in " << took.count()
            << " ms, VmHWM: " << StatusOf(client().process().pid(), "VmHWM") << " kB" << std::endl;
  // A write beside them does not read them all again.
  Write(root + "/large/0", "text");
  EXPECT_EQ(ReadFile(Path("root/large/0")), "text");
}

// Names of the list of attacks.

TEST_F(FileBytes, DescriptorsOfTheServerAreRefused) {
  for (const std::string path : {"/dev/fd/0", "/dev/fd/3", "/dev/stdin", "/proc/self/fd/0",
                                 "/proc/self/root/etc/passwd", "/proc/self/cwd/a.txt"}) {
    ReadRefusal(path);
    WriteRefusal(path);
  }
  MakeLink("root/fd", "/dev/fd/0");
  ReadRefusal(root + "/fd");
  WriteRefusal(root + "/fd");
}

TEST_F(FileBytes, NameOfAnEarlierRootWithMoreLettersIsRefusedForEveryFileTool) {
  MakeFile("root_sensitive_credentials/a.txt", "secret");
  const std::string beside = root + "_sensitive_credentials";
  ReadRefusal(beside + "/a.txt");
  WriteRefusal(beside + "/a.txt");
  Refusal("list_directory", {{"path", beside}});
  Refusal("replace",
          {{"path", beside + "/a.txt"}, {"old_string", "secret"}, {"new_string", "public"}});
  EXPECT_EQ(ReadFile(Path("root_sensitive_credentials/a.txt")), "secret");
}

// What git hides.

TEST_F(FileBytes, GitsOwnAndIgnoredFilesAreReachedByName) {
  MakeFile("root/.git/info/exclude", "needle");
  MakeFile("root/.gitignore", "ignored/\n");
  MakeFile("root/ignored/a.txt", "needle\n");
  EXPECT_THAT(Glob({{"pattern", "**/exclude"}, {"path", root}}), IsEmpty());
  EXPECT_THAT(List(root), ElementsAre(".git", ".gitignore", "ignored"));
  EXPECT_THAT(List(root + "/.git/info"), ElementsAre("exclude"));
  EXPECT_THAT(List(root + "/ignored"), ElementsAre("a.txt"));
  EXPECT_EQ(Read(root + "/.git/info/exclude"), "needle");
  EXPECT_EQ(Read(root + "/ignored/a.txt"), "needle\n");
  Write(root + "/.git/info/exclude", "changed");
  Write(root + "/ignored/b.txt", "new");
  Call("replace",
       {{"path", root + "/ignored/a.txt"}, {"old_string", "needle"}, {"new_string", "thread"}});
  EXPECT_EQ(ReadFile(Path("root/.git/info/exclude")), "changed");
  EXPECT_EQ(ReadFile(Path("root/ignored/b.txt")), "new");
  EXPECT_EQ(ReadFile(Path("root/ignored/a.txt")), "thread\n");
}

}  // namespace
}  // namespace integration
