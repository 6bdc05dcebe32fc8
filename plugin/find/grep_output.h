#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace find {

/// Bytes of one line's text that are kept; minified files have lines of megabytes.
inline constexpr std::size_t kMaximumGrepLine = std::size_t{16} << 10;

/// Formats matching lines as `git grep -n` does ("name:12:text"), keeps the first ones up to a
/// size, and counts all of them. Memory is bounded by the limit and one line.
class GrepOutput {
 public:
  explicit GrepOutput(std::size_t maximum_bytes) : maximum_bytes_(maximum_bytes) {}

  /// Lines of one file come one after the other. Of a text above kMaximumGrepLine the first bytes
  /// are kept, and the rest is counted. `more_bytes`: how much longer than `text` the line is.
  void Add(std::string_view name, std::string_view number, std::string_view text,
           std::size_t more_bytes = 0);

  /// The kept lines, and a last one with the totals if lines are missing. No call may follow.
  [[nodiscard]] std::string Finish();

  [[nodiscard]] std::size_t lines() const { return lines_; }

 private:
  std::size_t maximum_bytes_;
  std::string kept_;
  std::string file_;
  std::string printed_file_;
  std::size_t lines_ = 0;
  std::size_t kept_lines_ = 0;
  std::size_t files_ = 0;
};

}  // namespace find
