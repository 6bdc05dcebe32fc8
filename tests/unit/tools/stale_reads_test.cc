// What the tools do if the guest does not notice what the host changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "unit/tools/mount_check_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StaleReadsTest : public MountCheckTest {
 protected:
  StaleReadsTest() { check->states[kStale].reads_may_be_stale = true; }

  void SetUp() override {
    if (!fs::exists("/proc/self/fd")) {
      GTEST_SKIP() << "this machine has no /proc, by which the guest reads past its cache";
    }
  }

  /// What the guest remembers and what the host has now, filled up with NUL bytes if it is shorter.
  void PutBoth(const std::string& name, const std::string& remembered, std::string now) const {
    Put("stale/" + name, remembered);
    if (now.size() < remembered.size()) now.resize(remembered.size(), '\0');
    Put("fresh/" + name, now);
  }
};

TEST_F(StaleReadsTest, ReadFileReadsPastTheCache) {
  PutBoth("same", "old text", "new text");
  EXPECT_EQ(Content({{"path", "/host/stale/same"}}), "new text");
  PutBoth("grown", "old", std::string(3'000'000, 'n'));
  EXPECT_EQ(Content({{"path", "/host/stale/grown"}}), std::string(3'000'000, 'n'));
  PutBoth("filled", "", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/filled"}}), "new");
  PutBoth("shortened", "old and long", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/shortened"}}), "new");
  PutBoth("emptied", "old", "");
  EXPECT_EQ(Content({{"path", "/host/stale/emptied"}}), "");
  EXPECT_THAT(Notes("read_file", {{"path", "/host/stale/same"}}), IsEmpty());
  EXPECT_THAT(guest->scripts.front(), HasSubstr("iflag=nocache"));
}

TEST_F(StaleReadsTest, RangesOfLinesAreReadPastTheCacheToo) {
  PutBoth("lines", "old 0\nold 1\n", "new 0\nnew 1\nnew 2\nnew 3\n");
  EXPECT_EQ(Content({{"path", "/host/stale/lines"}, {"offset", 1}, {"limit", 2}}),
            "new 1\nnew 2\n");
  EXPECT_EQ(Content({{"path", "/host/stale/lines"}, {"offset", 3}}), "new 3\n");
  EXPECT_EQ(Content({{"path", "/host/stale/lines"}, {"limit", 0}}), "");
  EXPECT_THAT(Error("read_file", {{"path", "/host/stale/lines"}, {"offset", 4}}),
              HasSubstr("has 4 lines"));
}

TEST_F(StaleReadsTest, LargeFileThatCannotBeReadPastTheCacheIsNotReadWhole) {
  guest->can_read_directly = false;
  Put("stale/large", "");
  Put("fresh/large", "");
  fs::resize_file(top / "stale/large", std::uintmax_t{96} << 20);
  EXPECT_THAT(Error("read_file", {{"path", "/host/stale/large"}}), HasSubstr("more than the"));
  constexpr int kRequestsPerTransfer = 2;
  EXPECT_LE(guest->count(Operation::kRead),
            kRequestsPerTransfer * ((int{32} << 20) / static_cast<int>(guest::kMaxTransfer) + 1));
}

TEST_F(StaleReadsTest, LimitIsTheSameAndTheUnknownSizeIsNotReported) {
  PutBoth("binary", "old", std::string(100, '\0') + "x");
  EXPECT_THAT(Error("read_file", {{"path", "/host/stale/binary"}, {"offset", 0}}),
              HasSubstr("is not text but binary data; look into it"));
  PutBoth("large", "small", std::string((std::size_t{32} << 20) + 1, 'x'));
  EXPECT_THAT(
      Error("read_file", {{"path", "/host/stale/large"}}),
      AllOf(HasSubstr("/host/stale/large has more than the limit of 33554432 bytes (32 MiB)"),
            HasSubstr("read it in parts")));
  PutBoth("largest", "small", std::string(std::size_t{32} << 20, 'x'));
  // Not parsed, which takes seconds without optimisation.
  const std::string content = Call("read_file", {{"path", "/host/stale/largest"}}).content;
  EXPECT_THAT(content.substr(0, 100), HasSubstr(R"("content":"xxx)"));
  const std::size_t begin = content.find('x');
  EXPECT_EQ(content.find_first_not_of('x', begin) - begin, std::size_t{32} << 20);
}

TEST_F(StaleReadsTest, NamesAreQuoted) {
  const std::string name = "a 'b' $(touch pwned) \"c\"\n;d";
  PutBoth(name, "old", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/" + name}}), "new");
}

TEST_F(StaleReadsTest, GuestThatCannotReadPastItsCacheGetsANote) {
  guest->can_read_directly = false;
  PutBoth("file", "old", "new");
  EXPECT_EQ(Content({{"path", "/host/stale/file"}}), "old");
  EXPECT_THAT(Notes("read_file", {{"path", "/host/stale/file"}}),
              testing::ElementsAre(AllOf(HasSubstr("/host/stale"), HasSubstr("limactl edit"),
                                         HasSubstr("9p: {cache: mmap}"))));
}

TEST_F(StaleReadsTest, OutputWithoutAnExitStatusIsNotTakenForTheFile) {
  guest->reports_exit_status = false;
  PutBoth("file", "old", "new");
  EXPECT_THAT(Error("read_file", {{"path", "/host/stale/file"}}),
              HasSubstr("the beginning of the file past its cache, but not the rest"));
}

TEST_F(StaleReadsTest, LinkThatIsSwappedInIsNotReadThrough) {
  PutBoth("file", "old", "new");
  Put("outside", "secret");
  guest->before_run = [this] {
    fs::remove(top / "fresh/file");
    fs::create_symlink(top / "outside", top / "fresh/file");
  };
  EXPECT_EQ(Content({{"path", "/host/stale/file"}}), "old");
}

TEST_F(StaleReadsTest, ListsAndSearchesHaveANote) {
  Put("stale/a", "text");
  Put("fresh/a", "text");
  const auto said = testing::Contains(AllOf(HasSubstr("/host/stale"), HasSubstr("cache: mmap")));
  EXPECT_THAT(Notes("list_directory", {{"path", "/host/stale"}}), said);
  EXPECT_THAT(Notes("glob", {{"pattern", "*"}, {"path", "/host/stale"}}), said);
  EXPECT_THAT(Notes("search_file_content", {{"pattern", "text"}, {"path", "/host/stale"}}), said);
}

TEST_F(StaleReadsTest, SearchFromAboveHasANoteOnTheMountWithin) {
  check->states[kInner].reads_may_be_stale = true;
  EXPECT_THAT(Notes("glob", {{"pattern", "**"}, {"path", "/host/work"}}),
              testing::ElementsAre(HasSubstr("/host/inner")));
  fs::create_directory(top / "work/other");
  EXPECT_THAT(Notes("glob", {{"pattern", "**"}, {"path", "/host/work/other"}}), IsEmpty());
}

TEST_F(StaleReadsTest, ReplaceWritesTheHostsPresentTextOrNothing) {
  options_.roots[kStale].writable = options_.mounts[kStale].writable = true;
  UseRules(options_);
  const json edit = {{"path", "/host/stale/file"}, {"old_string", "text"}, {"new_string", "words"}};
  PutBoth("file", "old text", "new text");
  Call("replace", edit);
  EXPECT_EQ(Get("stale/file"), "new words");
  PutBoth("file", "a long old text", "new text");
  EXPECT_THAT(Error("replace", edit), HasSubstr("ends with NUL bytes"));
  EXPECT_EQ(Get("stale/file"), "a long old text");
  guest->can_read_directly = false;
  PutBoth("file", "old text", "new text");
  EXPECT_THAT(Error("replace", edit), HasSubstr("limactl edit"));
  EXPECT_EQ(Get("stale/file"), "old text");
}

TEST_F(StaleReadsTest, OtherMountsAreReadAsUsual) {
  Put("work/a", "text");
  EXPECT_EQ(Content({{"path", "/host/work/a"}}), "text");
  EXPECT_THAT(Notes("list_directory", {{"path", "/host/work"}}), IsEmpty());
  EXPECT_THAT(guest->scripts, IsEmpty());
}

}  // namespace
}  // namespace tools
