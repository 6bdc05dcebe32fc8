#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>

#include "file_tool_fixture.h"
#include "files/file_content.h"
#include "tools/tools.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::string_literals;

class ReadFile : public FileToolTest {
 protected:
  ReadFile() : FileToolTest("read_file") {}

  std::string Content(const json& arguments) {
    const mcp::ToolResult result = Call(arguments);
    EXPECT_TRUE(result.more_content.empty());
    return Structured(result).at("content").get<std::string>();
  }
  std::string Lines(std::uint64_t offset, std::uint64_t limit) {
    return Content({{"path", "/host/work/file"}, {"offset", offset}, {"limit", limit}});
  }
};

TEST_F(ReadFile, MissingFileIsExactlyFileDoesNotExist) {
  EXPECT_EQ(Error({{"path", "/host/work/none"}}), "file does not exist");
  EXPECT_EQ(Error({{"path", "/host/work/no/such/directory"}}), "file does not exist");
  Put("file", "");
  At(Operation::kOpen, [&](const std::string&) { fs::remove(work / "file"); });
  EXPECT_EQ(Error({{"path", "/host/work/file"}}), "file does not exist");
}

TEST_F(ReadFile, DeniedFileIsExactlyPermissionDenied) {
  Put("file", "");
  for (const Operation where : {Operation::kRealPath, Operation::kLStat, Operation::kOpen}) {
    FailAt(where, guest::FileErrorCode::kPermissionDenied);
    EXPECT_EQ(Error({{"path", "/host/work/file"}}), "permission denied");
  }
}

TEST_F(ReadFile, FileSwappedForADirectoryAfterTheCheckIsRefused) {
  Put("file", "text");
  At(Operation::kOpen, [&](const std::string&) {
    fs::remove(work / "file");
    fs::create_directory(work / "file");
  });
  EXPECT_THAT(Error({{"path", "/host/work/file"}}), HasSubstr("replaced by another file"));
}

TEST_F(ReadFile, FileSwappedForAnotherOwnersFileAfterTheCheckIsRefused) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  Put("file", "text");
  Put("other", "secret");
  ASSERT_EQ(chown((work / "other").c_str(), 12345, getgid()), 0);
  At(Operation::kOpen, [&](const std::string&) { fs::rename(work / "other", work / "file"); });
  EXPECT_THAT(Error({{"path", "/host/work/file"}}), HasSubstr("replaced by another file"));
}

TEST_F(ReadFile, DirectorySwappedForALinkAfterTheCheckIsRefused) {
  fs::create_directory(work / "sub");
  Put("sub/file", "inside");
  fs::create_directory(top / "outside");
  std::ofstream(top / "outside/file") << "the secret";
  At(Operation::kOpen, [&](const std::string&) {
    fs::rename(work / "sub", work / "away");
    fs::create_directory_symlink(top / "outside", work / "sub");
  });
  EXPECT_EQ(Error({{"path", "/host/work/sub/file"}}),
            "/host/work/sub/file was replaced by another file while it was being opened");
}

TEST_F(ReadFile, FileThatGrowsIsReadWhole) {
  for (const Operation when : {Operation::kOpen, Operation::kRead}) {
    Put("file", "one");
    At(when, [&](const std::string&) { Put("file", "one and two"); });
    EXPECT_EQ(Content({{"path", "/host/work/file"}}), "one and two");
  }
}

TEST_F(ReadFile, FileThatKeepsGrowingIsReadInLargePieces) {
  const std::string large(std::size_t{1} << 20, 'x');
  Put("file", "one");
  int reads = 0;
  guest->set_hook([&](Operation operation, const std::string&) {
    if (operation == Operation::kRead && ++reads <= 2) Put("file", reads == 1 ? "one two" : large);
  });
  EXPECT_TRUE(Content({{"path", "/host/work/file"}}) == large);
  EXPECT_LT(reads, 100);
}

TEST_F(ReadFile, BytesThatAreNotUtf8AreReplacedAndCounted) {
  Put("file", "caf\xE9 \xFF!");
  const mcp::ToolResult result = Call({{"path", "/host/work/file"}});
  EXPECT_EQ(Structured(result)["content"], "caf\uFFFD \uFFFD!");
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_EQ(result.more_content[0]["type"], "text");
  EXPECT_THAT(result.more_content[0]["text"].get<std::string>(), HasSubstr("not valid UTF-8: 2."));
}

TEST_F(ReadFile, ImageComesAsAnImageBlock) {
  Put("image", "\x89PNG\r\n\x1A\n\0\0"s);
  const mcp::ToolResult result = Call({{"path", "/host/work/image"}});
  EXPECT_THAT(Structured(result)["content"].get<std::string>(), HasSubstr("PNG image, 10 bytes"));
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_EQ(json(result.more_content[0]),
            json({{"type", "image"}, {"data", "iVBORw0KGgoAAA=="}, {"mimeType", "image/png"}}));
}

TEST_F(ReadFile, AFileThatCannotFitIsNotReadAndTheErrorSaysHowTo) {
  const std::size_t limit = LimitsFor({}, {}).file_bytes;
  Put("file", std::string(limit, 'x'));
  EXPECT_EQ(Content({{"path", "/host/work/file"}}).size(), limit);
  Put("file", std::string(limit + 1, 'x'));
  guest->ResetCounts();
  EXPECT_THAT(Error({{"path", "/host/work/file"}}),
              AllOf(HasSubstr("4194305 bytes"), HasSubstr("offset"), HasSubstr("limit")));
  EXPECT_LE(guest->count(Operation::kRead), 2) << "stat, and what it is";
}

TEST_F(ReadFile, FileThatGrowsBeyondTheLimitWhileItIsReadIsAnError) {
  Put("file", "first ");
  At(Operation::kRead, [&](const std::string&) { Put("file", std::string(5'000'000, 'x')); });
  EXPECT_THAT(Error({{"path", "/host/work/file"}}), HasSubstr("read it in parts"));
}

// Ranges.

TEST_F(ReadFile, LinesAcrossChunksAreWhole) {
  std::string text;
  for (int i = 0; text.size() < 3 * files::kReadChunk; ++i)
    text += "line " + std::to_string(i) + "\n";
  Put("file", text);
  const std::size_t start = text.find("\nline 30000\n") + 1;
  const std::size_t end = text.find("\nline 50000\n") + 1;
  EXPECT_EQ(Lines(30'000, 20'000), text.substr(start, end - start));
  EXPECT_EQ(Lines(0, 1'000'000), text);
}

TEST_F(ReadFile, RangeReadsNoFurtherThanItMust) {
  Put("file", std::string(files::kReadChunk, '\n') + std::string(8 * files::kReadChunk, 'x'));
  guest->ResetCounts();
  EXPECT_EQ(Lines(10, 3), "\n\n\n");
  EXPECT_EQ(guest->count(Operation::kRead), 1);
  fs::resize_file(work / "file", 2 * files::kMaxReadBytes);
  EXPECT_EQ(Lines(10, 3), "\n\n\n");
}

TEST_F(ReadFile, RangeIsReadInRequestsOfTheServersSizeAndInGrowingBursts) {
  constexpr std::size_t kServersSize = 261'120;
  Put("file", std::string(16 * kServersSize, '\n'));
  for (const auto& [last_line, reads, bursts] : {std::tuple{0U, 1U, 1},
                                                 {kServersSize - 1, 1U, 1},
                                                 {kServersSize, 3U, 2},
                                                 {7 * kServersSize - 1, 7U, 3},
                                                 {16 * kServersSize - 1, 17U, 5}}) {
    guest->ResetCounts();
    EXPECT_EQ(Lines(last_line, 1), "\n");
    EXPECT_EQ(guest->server_reads(), reads) << last_line;
    EXPECT_EQ(guest->count(Operation::kRead), bursts) << last_line;
  }
}

TEST_F(ReadFile, StopsWhenItsContextIsStopped) {
  Put("file", "text");
  support::StopSource source;
  context = source.context();
  At(Operation::kOpen, [&](const std::string&) { source.Stop(support::StopReason::kCancelled); });
  EXPECT_THROW((void)Call({{"path", "/host/work/file"}}), support::Stopped);
}

}  // namespace
}  // namespace tools
