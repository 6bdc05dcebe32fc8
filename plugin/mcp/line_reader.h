#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace mcp {

/// Splits the bytes of a file descriptor into lines. Not thread-safe.
class LineReader {
 public:
  /// Longest line in bytes, without its line end.
  static constexpr std::size_t kMaxLine = std::size_t{64} * 1024 * 1024;

  enum class Result {
    kLine,        ///< a line was taken
    kTooLong,     ///< a line of more than `max_line` bytes was discarded
    kNeedMore,    ///< no whole line yet: call `Fill`
    kEndOfInput,  ///< everything has been taken
  };

  /// Does not own `fd`.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): chunk_ is read only as far as filled
  explicit LineReader(int fd, std::size_t max_line = kMaxLine) : fd_(fd), max_line_(max_line) {}

  /// Takes the next line from what has been read. Skips blank lines; trims carriage returns, spaces
  /// and tabs. The last line needs no line end.
  Result Next(std::string& line);

  /// Reads once, up to 64 KiB; waits when there is nothing. A read error counts as end of input.
  void Fill();

 private:
  Result Finish(std::string& line);

  int fd_;
  std::size_t max_line_;
  std::array<char, std::size_t{64} * 1024> chunk_;  // what was read last; not cleared: that costs
  std::size_t filled_ = 0;                          // of chunk_
  std::size_t taken_ = 0;                           // of chunk_
  std::string partial_;      // the beginning of the current line, from earlier chunks
  bool discarding_ = false;  // the current line is too long
  bool end_of_input_ = false;
};

}  // namespace mcp
