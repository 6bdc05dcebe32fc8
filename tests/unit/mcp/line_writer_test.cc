#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mcp/lines.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;

class LineWriterTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    if (!GetParam()) return;
    std::array<int, 2> sockets{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    pipe_.read_end = support::FileDescriptor(sockets[0]);
    pipe_.write_end = support::FileDescriptor(sockets[1]);
  }

  std::string ReadLine() {
    if (!reader_) reader_ = std::make_unique<LineReader>(pipe_.read_end.get());
    std::string line;
    while (reader_->Next(line) == LineReader::Result::kNeedMore) reader_->Fill();
    return line;
  }

  support::Pipe pipe_;  // or a pair of sockets
  std::unique_ptr<LineReader> reader_;
};

TEST_P(LineWriterTest, LinesArriveWholeAndInOrder) {
  LineWriter writer(pipe_.write_end.get());
  const std::string large(3'000'000, 'x');
  writer.Write("a");
  writer.Write(large);
  writer.Write("b");
  EXPECT_EQ(ReadLine(), "a");
  EXPECT_EQ(ReadLine(), large);
  EXPECT_EQ(ReadLine(), "b");
  EXPECT_TRUE(writer.Flush(10s));
}

TEST_P(LineWriterTest, LinesOfManyThreadsAreNeverMixed) {
  LineWriter writer(pipe_.write_end.get());
  constexpr int kThreads = 4;
  constexpr int kLines = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < kLines; ++i)
        writer.Write(std::string(10'000, static_cast<char>('a' + t)));
    });
  }
  for (int i = 0; i < kThreads * kLines; ++i) {
    const std::string line = ReadLine();
    EXPECT_EQ(line, std::string(10'000, line.at(0)));
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(LineWriterTest, ReaderThatDoesNotReadBlocksNeitherWriteNorFlushNorDestructor) {
  LineWriter writer(pipe_.write_end.get(), 1000);
  EXPECT_TRUE(writer.HasRoom());
  writer.Write(std::string(10'000'000, 'x'));
  EXPECT_FALSE(writer.HasRoom());
  EXPECT_FALSE(writer.Flush(1ms));
}

TEST_P(LineWriterTest, RoomComesBackWhenTheReaderReads) {
  LineWriter writer(pipe_.write_end.get(), 1000);
  writer.Write(std::string(3'000'000, 'x'));
  auto waiting = std::async(std::launch::async, [&writer] { writer.WaitForRoom(); });
  EXPECT_EQ(ReadLine().size(), 3'000'000U);
  waiting.get();
  EXPECT_TRUE(writer.HasRoom());
}

TEST_P(LineWriterTest, WaitingForRoomEndsWhenItIsGivenUp) {
  LineWriter writer(pipe_.write_end.get(), 1000);
  writer.Write(std::string(3'000'000, 'x'));
  auto waiting = std::async(std::launch::async, [&writer] { writer.WaitForRoom(); });
  writer.GiveUpWaiting();
  waiting.get();
}

TEST_P(LineWriterTest, ClosedReaderIsNoticedAndNothingIsKept) {
  LineWriter writer(pipe_.write_end.get(), 1000);
  writer.Write(std::string(3'000'000, 'x'));
  pipe_.read_end.Close();
  EXPECT_FALSE(writer.Flush(10s));
  writer.Write("dropped");
  EXPECT_TRUE(writer.HasRoom());
}

TEST_P(LineWriterTest, ClosedReaderIsNoticedBySendingAShortLine) {
  LineWriter writer(pipe_.write_end.get());
  pipe_.read_end.Close();
  writer.Write("short");
  EXPECT_FALSE(writer.Flush(10s));
}

TEST_P(LineWriterTest, FlushWaitsForASlowReader) {
  LineWriter writer(pipe_.write_end.get());
  constexpr int kLines = 30;
  for (int i = 0; i < kLines; ++i) writer.Write(std::string(200'000, 'x'));
  auto flush = std::async(std::launch::async, [&writer] { return writer.Flush(200ms); });
  for (int i = 0; i < kLines; ++i) {
    EXPECT_EQ(ReadLine().size(), 200'000U);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(flush.get()) << "longer than the patience in all";
}

INSTANTIATE_TEST_SUITE_P(PipeAndSocket, LineWriterTest, ::testing::Bool());

}  // namespace
}  // namespace mcp
