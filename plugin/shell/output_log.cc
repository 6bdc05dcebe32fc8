#include "shell/output_log.h"

#include <algorithm>

#include "support/utf8.h"

namespace shell {
namespace {

constexpr std::size_t kLongestCharacter = 4;

/// The length of a UTF-8 character with this first byte; 0: no character begins with it.
std::size_t LengthByFirstByte(char byte) {
  const auto first = static_cast<unsigned char>(byte);
  if (first < 0x80) return 1;
  return first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// `bytes` without a character at its end that is not complete.
std::string_view WithoutPartOfCharacter(std::string_view bytes) {
  for (std::size_t length = 1; length < std::min(bytes.size() + 1, kLongestCharacter); ++length) {
    const char byte = bytes[bytes.size() - length];
    if (IsContinuation(byte)) continue;
    return LengthByFirstByte(byte) > length ? bytes.substr(0, bytes.size() - length) : bytes;
  }
  return bytes;
}

}  // namespace

void OutputLog::Add(std::string_view bytes) {
  total_ += bytes.size();
  if (bytes.size() > maximum_) bytes.remove_prefix(bytes.size() - maximum_);
  kept_ += bytes;
  // Not at each call: many small pieces would move the rest each time.
  if (kept_.size() > maximum_ + maximum_ / 8) kept_.erase(0, kept_.size() - maximum_);
}

std::uint64_t OutputLog::readable() const {
  return finished_ ? total_ : begin() + WithoutPartOfCharacter(kept_).size();
}

OutputLog::Piece OutputLog::Read(std::uint64_t offset, std::size_t maximum) const {
  const std::uint64_t last = readable();
  offset = std::min(offset, last);
  const std::uint64_t from = offset < begin() ? CharacterFrom(begin()) : offset;
  std::string_view bytes = std::string_view(kept_).substr(from - begin(), last - from);
  if (bytes.size() > maximum) {
    const std::string_view whole = WithoutPartOfCharacter(bytes.substr(0, maximum));
    bytes = bytes.substr(0, whole.empty() ? maximum : whole.size());
  }
  return {support::ToUtf8(bytes), from + bytes.size(), from - offset};
}

std::uint64_t OutputLog::Resolve(std::int64_t offset) const {
  if (offset >= 0) return static_cast<std::uint64_t>(offset);
  const std::uint64_t last = readable();
  const std::uint64_t bytes = std::uint64_t{0} - static_cast<std::uint64_t>(offset);
  return CharacterFrom(std::max(bytes < last ? last - bytes : 0, begin()));
}

std::uint64_t OutputLog::CharacterFrom(std::uint64_t offset) const {
  const std::uint64_t last = readable();
  for (std::size_t i = 0; i < kLongestCharacter - 1 && offset < last; ++i) {
    if (!IsContinuation(kept_[offset - begin()])) break;
    ++offset;
  }
  return offset;
}

}  // namespace shell
