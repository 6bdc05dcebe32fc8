// SPDX-License-Identifier: Apache-2.0
#include "mcp/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/pipe.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

/// All lines of `input`; "<too long>" for one that was. `piece`: bytes that arrive at once.
std::vector<std::string> ReadAll(const std::string& input, std::size_t max_line,
                                 std::size_t piece = 1000) {
  support::Pipe pipe;
  std::thread writer([&] {
    for (std::size_t at = 0; at < input.size(); at += piece) {
      const std::string part = input.substr(at, piece);
      EXPECT_EQ(::write(pipe.write_end.get(), part.data(), part.size()),
                static_cast<ssize_t>(part.size()));
    }
    pipe.write_end.Close();
  });
  LineReader reader(pipe.read_end.get(), max_line);
  std::vector<std::string> lines;
  for (std::string line; true;) {
    const LineReader::Result result = reader.Next(line);
    if (result == LineReader::Result::kEndOfInput) break;
    if (result == LineReader::Result::kNeedMore) reader.Fill();
    if (result == LineReader::Result::kLine) lines.push_back(line);
    if (result == LineReader::Result::kTooLong) lines.emplace_back("<too long>");
  }
  writer.join();
  return lines;
}

TEST(LineReader, CutsAtLineFeedsAndTrims) {
  const std::vector<std::pair<const char*, Lines>> cases = {
      {"", {}},
      {"a\nb c\n", {"a", "b c"}},
      {"a\nb", {"a", "b"}},
      {"\r\n \n a \r\n\t\nb\t \n\n", {"a", "b"}},
      // the limit is 10 bytes
      {"1234567890\n", {"1234567890"}},
      {"1234567890\r\n", {"1234567890"}},
      {"12345678901\n", {"<too long>"}},
      {"12345678901", {"<too long>"}},
  };
  for (const auto& [input, lines] : cases) EXPECT_EQ(ReadAll(input, 10), lines) << input;
}

TEST(LineReader, ResynchronisesAfterALineTooLong) {
  const std::string input = "a\n" + std::string(300'000, 'x') + "\nb\n";
  EXPECT_EQ(ReadAll(input, 10), (Lines{"a", "<too long>", "b"}));
}

TEST(LineReader, PiecesOfEverySizeMakeTheSameLines) {
  for (std::size_t piece = 1; piece < 8; ++piece) {
    EXPECT_EQ(ReadAll("ab\r\n\ncd\n12345678901\nef", 10, piece),
              (Lines{"ab", "cd", "<too long>", "ef"}));
  }
}

TEST(LineReader, NothingYetOnAnInputThatDoesNotBlockIsNotTheEndButAnErrorIs) {
  const support::Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK), 0);
  LineReader reader(pipe.read_end.get());
  std::string line;
  reader.Fill();
  EXPECT_EQ(reader.Next(line), LineReader::Result::kNeedMore);
  ASSERT_EQ(::write(pipe.write_end.get(), "a\n", 2), 2);
  reader.Fill();
  EXPECT_EQ(reader.Next(line), LineReader::Result::kLine);
  EXPECT_EQ(line, "a");
  LineReader failing(-1);
  failing.Fill();
  EXPECT_EQ(failing.Next(line), LineReader::Result::kEndOfInput);
}

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
  support::WakePipe wake_;
};

std::future<bool> FlushInBackground(LineWriter& writer, std::chrono::milliseconds timeout = 10s) {
  return std::async(std::launch::async, [&writer, timeout] { return writer.Flush(timeout); });
}

TEST_P(LineWriterTest, LinesArriveWholeAndInOrder) {
  LineWriter writer(pipe_.write_end.get(), wake_);
  const std::string large(3'000'000, 'x');
  writer.Write("a");
  writer.Write(large);
  writer.Write("b");
  auto flush = FlushInBackground(writer);
  EXPECT_EQ(ReadLine(), "a");
  EXPECT_EQ(ReadLine(), large);
  EXPECT_EQ(ReadLine(), "b");
  EXPECT_TRUE(flush.get());
}

TEST_P(LineWriterTest, LinesOfManyThreadsAreNeverMixed) {
  LineWriter writer(pipe_.write_end.get(), wake_);
  constexpr int kThreads = 4;
  constexpr int kLines = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < kLines; ++i)
        writer.Write(std::string(10'000, static_cast<char>('a' + t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto flush = FlushInBackground(writer);
  for (int i = 0; i < kThreads * kLines; ++i) {
    const std::string line = ReadLine();
    EXPECT_EQ(line, std::string(10'000, line.at(0)));
  }
  EXPECT_TRUE(flush.get());
}

TEST_P(LineWriterTest, ReaderThatDoesNotReadBlocksNeitherWriteNorFlush) {
  LineWriter writer(pipe_.write_end.get(), wake_, 1000);
  EXPECT_TRUE(writer.HasRoom());
  writer.Write(std::string(10'000'000, 'x'));
  EXPECT_FALSE(writer.HasRoom());
  EXPECT_FALSE(writer.Flush(1ms));
}

TEST_P(LineWriterTest, RoomComesBackWhenTheReaderReads) {
  LineWriter writer(pipe_.write_end.get(), wake_, 1000);
  writer.Write(std::string(3'000'000, 'x'));
  auto waiting = std::async(std::launch::async, [&writer] { writer.WaitForRoom({}); });
  auto flush = FlushInBackground(writer);
  EXPECT_EQ(ReadLine().size(), 3'000'000U);
  waiting.get();
  EXPECT_TRUE(flush.get());
  EXPECT_TRUE(writer.HasRoom());
}

TEST_P(LineWriterTest, ThePollingThreadIsWokenWhenTheFirstLineHasToWait) {
  LineWriter writer(pipe_.write_end.get(), wake_);
  const auto is_woken = [this] {
    pollfd wake = {.fd = wake_.fd(), .events = POLLIN, .revents = 0};
    return ::poll(&wake, 1, 0) == 1;
  };
  writer.Write("a");
  EXPECT_FALSE(is_woken());
  EXPECT_EQ(writer.Polled().events, POLLHUP);
  writer.Write(std::string(3'000'000, 'x'));
  EXPECT_TRUE(is_woken());
  EXPECT_EQ(writer.Polled().events, POLLOUT);
}

TEST_P(LineWriterTest, WaitingForRoomEndsWhenItIsStopped) {
  LineWriter writer(pipe_.write_end.get(), wake_, 1000);
  writer.Write(std::string(3'000'000, 'x'));
  support::StopSource source;
  auto waiting = std::async(std::launch::async, [&] { writer.WaitForRoom(source.context()); });
  source.Stop(support::StopReason::kEndOfInput);
  waiting.get();
  EXPECT_FALSE(writer.HasRoom());
}

TEST_P(LineWriterTest, ClosedReaderIsNoticedAndNothingIsKept) {
  LineWriter writer(pipe_.write_end.get(), wake_, 1000);
  writer.Write(std::string(3'000'000, 'x'));
  pipe_.read_end.Close();
  EXPECT_FALSE(writer.Flush(10s));
  writer.Write("dropped");
  EXPECT_TRUE(writer.HasRoom());
  LineWriter later(pipe_.write_end.get(), wake_);
  later.Write("short");
  EXPECT_FALSE(later.Flush(10s));
}

TEST_P(LineWriterTest, FlushWaitsForASlowReader) {
  LineWriter writer(pipe_.write_end.get(), wake_);
  constexpr int kLines = 30;
  for (int i = 0; i < kLines; ++i) writer.Write(std::string(200'000, 'x'));
  auto flush = FlushInBackground(writer, 200ms);
  for (int i = 0; i < kLines; ++i) {
    EXPECT_EQ(ReadLine().size(), 200'000U);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(flush.get()) << "longer than the patience in all";
}

INSTANTIATE_TEST_SUITE_P(PipeAndSocket, LineWriterTest, ::testing::Bool());

}  // namespace
}  // namespace mcp
