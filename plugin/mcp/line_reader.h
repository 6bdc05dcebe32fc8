#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mcp {

/// Cuts the bytes of a file descriptor into lines. Not thread-safe.
class LineReader {
 public:
  /// Longest line in bytes, without its line end.
  static constexpr std::size_t kMaxLine = std::size_t{64} * 1024 * 1024;

  enum class Result {
    kLine,        ///< a line was taken
    kTooLong,     ///< a line of more than `max_line` bytes, or than there is memory for, came to
                  ///< its end and is gone
    kNeedMore,    ///< no whole line there yet: call `Fill`
    kEndOfInput,  ///< everything has been taken
  };

  /// Does not own `fd`.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): chunk_ is read only as far as filled
  explicit LineReader(int fd, std::size_t max_line = kMaxLine) : fd_(fd), max_line_(max_line) {}

  /// Takes the next line from what has been read. Blank lines are skipped; carriage returns,
  /// spaces and tabs around a line are cut off. What stands before the end of input without a line
  /// end counts as a line. Memory for the longest line is reserved once a line is longer than
  /// 1 MiB; it takes up what it holds, and is given back with the line.
  Result Next(std::string& line);

  /// Reads once, up to 64 KiB; waits when nothing is there. A read error counts as the end of
  /// input, for there is nothing else that could be done.
  void Fill();

 private:
  Result Finish(std::string& line);
  void Keep(std::string_view piece);

  int fd_;
  std::size_t max_line_;
  std::array<char, std::size_t{64} * 1024> chunk_;  // what was read last; not cleared: that costs
  std::size_t filled_ = 0;                          // of chunk_
  std::size_t taken_ = 0;                           // likewise
  std::string partial_;      // the beginning of the present line, from earlier chunks
  bool discarding_ = false;  // the present line is too long
  bool end_of_input_ = false;
};

}  // namespace mcp
