#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace find {

/// Bytes of one line's text that are kept; minified files have lines of megabytes.
inline constexpr std::size_t kMaximumGrepLine = std::size_t{16} << 10;

/// Takes matching lines as they come, prints them as `git grep -n` does ("name:12:text"), keeps the
/// first ones up to a size, and counts all of them. Memory: the limit and one line, whatever comes.
class GrepOutput {
 public:
  explicit GrepOutput(std::size_t maximum_bytes) : maximum_bytes_(maximum_bytes) {}

  /// Lines of one file come one after the other. `number` is printed as it is; of a text above
  /// kMaximumGrepLine the first bytes are kept, with a mark that counts what was left out.
  /// `more_bytes`: how much longer than `text` the line is, where its end was not even kept.
  void Add(std::string_view name, std::string_view number, std::string_view text,
           std::size_t more_bytes = 0);

  /// What is kept: whole lines. Where lines are missing a last line gives the totals. Ends this
  /// object's use.
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

/// A file name as git prints it with core.quotePath off: in double quotes, with C's escapes, where
/// it holds control characters, double quotes or backslashes (git's quote.c).
std::string GitQuotedName(std::string_view name);

}  // namespace find
