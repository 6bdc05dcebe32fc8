// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

/// What the fuzzers share.
namespace fuzz {

/// The bytes of one run, consumed from the front. After the last one every number is 0 and every
/// text is empty.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::uint8_t Byte() {
    if (rest_.empty()) return 0;
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<std::uint8_t>(byte);
  }

  /// Below `limit`, which is at most 256.
  std::size_t Below(std::size_t limit) { return Byte() % limit; }

  bool Flag() { return (Byte() & 1U) != 0; }

  std::uint64_t Number() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = (value << 8U) | Byte();
    return value;
  }

  /// Up to the next `end`, which is consumed too.
  std::string_view Until(char end) {
    const std::size_t at = rest_.find(end);
    const std::string_view text = rest_.substr(0, at);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + 1);
    return text;
  }

  /// A length byte, then so many bytes.
  std::string_view Piece() {
    const std::string_view text = rest_.substr(0, Byte());
    rest_.remove_prefix(text.size() < rest_.size() ? text.size() : rest_.size());
    return text;
  }

  std::string_view Rest() {
    const std::string_view text = rest_;
    rest_ = {};
    return text;
  }

 private:
  std::string_view rest_;
};

/// Reports a finding unless `condition` holds.
inline void Require(bool condition, std::string_view rule) {
  if (condition) return;
  std::cerr << "violated: " << rule << std::endl;
  std::abort();
}

}  // namespace fuzz
