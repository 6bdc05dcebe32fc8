#include "mcp/transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {
namespace {

/// A client that has sent two lines and no more, while the output is full.
class HungUpInput : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr std::string_view kLines = "a\nb\n";
    ASSERT_EQ(::write(input_.write_end.get(), kLines.data(), kLines.size()),
              ssize_t{kLines.size()});
    input_.write_end.Close();
  }

  static void Fill(Transport& transport) {
    transport.output().Write(std::string(LineWriter::kMaxPending, 'x'));
  }

  void ReadWhatFills() const {
    std::vector<char> piece(std::size_t{64} * 1024);
    std::size_t left = LineWriter::kMaxPending + 1;  // and its line end
    while (left > 0) {
      const ssize_t count = ::read(output_.read_end.get(), piece.data(), piece.size());
      ASSERT_GT(count, 0);
      left -= static_cast<std::size_t>(count);
    }
  }

  support::Pipe input_;
  support::Pipe output_;
  std::string line_;
};

TEST_F(HungUpInput, IsReadToItsEndForAClientThatReads) {
  Transport transport(input_.read_end.get(), output_.write_end.get());
  Fill(transport);
  const auto client = std::async(std::launch::async, [this] { ReadWhatFills(); });
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kLine);
  EXPECT_EQ(line_, "a");
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kLine);
  EXPECT_EQ(line_, "b");
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kEndOfInput);
}

TEST_F(HungUpInput, IsNotWaitedForOnceTheOutputIsClosed) {
  Transport transport(input_.read_end.get(), output_.write_end.get());
  Fill(transport);
  output_.read_end.Close();
  EXPECT_EQ(transport.Receive(line_), Transport::Received::kOutputClosed);
}

}  // namespace
}  // namespace mcp
