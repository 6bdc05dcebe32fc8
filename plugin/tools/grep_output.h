#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tools {

/// Bytes of one printed line that are kept; minified files have lines of megabytes.
inline constexpr std::size_t kMaximumGrepLine = std::size_t{16} << 10;

/// Takes the lines that `git grep -n` prints ("name:12:text") as they come, keeps the first ones up
/// to a size, and counts all of them. Memory: the limit and one line, whatever comes.
class GrepOutput {
 public:
  explicit GrepOutput(std::size_t maximum_bytes) : maximum_bytes_(maximum_bytes) {}

  void Append(std::string_view bytes);

  /// What is kept: whole lines, those above kMaximumGrepLine shortened with a mark that counts what
  /// was left out. Where lines are missing a last line gives the totals. Ends this object's use.
  [[nodiscard]] std::string Finish();

  [[nodiscard]] std::size_t lines() const { return lines_; }

 private:
  void EndLine();

  std::size_t maximum_bytes_;
  std::string kept_;
  std::string line_;
  std::size_t line_bytes_ = 0;
  std::string file_;
  std::size_t lines_ = 0;
  std::size_t kept_lines_ = 0;
  std::size_t files_ = 0;
};

}  // namespace tools
