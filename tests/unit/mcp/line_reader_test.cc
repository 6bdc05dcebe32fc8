#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mcp/lines.h"
#include "support/wake_pipe.h"

namespace mcp {
namespace {

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

using Lines = std::vector<std::string>;

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

TEST(LineReader, NothingYetOnAnInputThatDoesNotBlockIsNotTheEnd) {
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
}

TEST(LineReader, AnErrorIsTheEnd) {
  LineReader reader(-1);
  std::string line;
  reader.Fill();
  EXPECT_EQ(reader.Next(line), LineReader::Result::kEndOfInput);
}

}  // namespace
}  // namespace mcp
