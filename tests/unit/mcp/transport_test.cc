#include "mcp/transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {
namespace {

/// A client that has sent two lines and no more, while the output is full.
class HungUpInput : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(input_.data()), 0);
    ASSERT_EQ(::pipe(output_.data()), 0);
    constexpr std::string_view kLines = "a\nb\n";
    ASSERT_EQ(::write(input_[1], kLines.data(), kLines.size()), ssize_t{kLines.size()});
    ::close(std::exchange(input_[1], -1));
  }
  void TearDown() override {
    for (const int fd : {input_[0], output_[0], output_[1]}) ::close(fd);
  }

  static void Fill(Transport& transport) {
    transport.output().Write(std::string(LineWriter::kMaxPending, 'x'));
  }

  void ReadWhatFills() const {
    std::vector<char> piece(std::size_t{64} * 1024);
    std::size_t left = LineWriter::kMaxPending + 1;  // and its line end
    while (left > 0) {
      const ssize_t count = ::read(output_[0], piece.data(), piece.size());
      ASSERT_GT(count, 0);
      left -= static_cast<std::size_t>(count);
    }
  }

  std::array<int, 2> input_ = {-1, -1};
  std::array<int, 2> output_ = {-1, -1};
  std::string line_;
};

TEST_F(HungUpInput, IsReadToItsEndForAClientThatReads) {
  Transport transport(input_[0], output_[1]);
  Fill(transport);
  const auto client = std::async(std::launch::async, [this] { ReadWhatFills(); });
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kLine);
  EXPECT_EQ(line_, "a");
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kLine);
  EXPECT_EQ(line_, "b");
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kEndOfInput);
}

TEST_F(HungUpInput, IsNotWaitedForOnceTheOutputIsClosed) {
  Transport transport(input_[0], output_[1]);
  Fill(transport);
  ::close(std::exchange(output_[0], -1));
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kOutputClosed);
}

}  // namespace
}  // namespace mcp
