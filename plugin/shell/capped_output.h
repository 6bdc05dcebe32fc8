#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shell {

/// Bytes that are kept of each output stream of a command, and of the lines that a search finds,
/// unless the user of the program chooses otherwise.
inline constexpr std::size_t kDefaultMaximumOutput = std::size_t{256} * 1024;

/// Keeps the beginning and the end of a stream of any length: up to `maximum_bytes`, rounded down
/// to an even number, all of it, beyond that the first and the last half of as many bytes. Holds at
/// most twice that in memory. One thread at a time.
class CappedOutput {
 public:
  explicit CappedOutput(std::size_t maximum_bytes) : half_(maximum_bytes / 2) {}

  void Add(std::string_view bytes);

  /// What is kept, as bytes. Where something was left out, both parts are cut at a line end when
  /// there is one in their half next to the gap, otherwise between two UTF-8 characters; between
  /// them stands one line "[… N bytes left out …]".
  [[nodiscard]] std::string Text() const;

 private:
  std::size_t half_;
  std::uint64_t total_ = 0;  ///< all bytes that came, kept or not
  std::string head_;
  std::string tail_;  ///< what came after `head_`, its beginning cut off now and then
};

}  // namespace shell
