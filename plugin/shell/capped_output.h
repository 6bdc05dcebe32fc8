#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shell {

/// Default bytes for each output stream of a command, and for the lines of a search.
inline constexpr std::size_t kDefaultMaxOutput = std::size_t{256} * 1024;

/// Keeps the first and the last half of `maximum_bytes` of a stream. Uses at most twice that
/// memory. One thread at a time.
class CappedOutput {
 public:
  explicit CappedOutput(std::size_t maximum_bytes) : half_(maximum_bytes / 2) {}

  void Add(std::string_view bytes);

  /// The kept bytes. If bytes were left out, one line "[… N bytes left out …]" is between the
  /// parts, which are cut at a line end if there is one in their half next to the gap, else between
  /// two UTF-8 characters. `remedy`: how to get them, after "left out".
  [[nodiscard]] std::string Text(std::string_view remedy = {}) const;

  [[nodiscard]] bool is_cut() const { return total_ > 2 * half_; }

 private:
  std::size_t half_;
  std::uint64_t total_ = 0;  ///< bytes received
  std::string head_;
  std::string tail_;  ///< the bytes after `head_`; its beginning is cut off now and then
};

}  // namespace shell
