#include "shell/output_log.h"

#include <algorithm>

#include "support/utf8.h"

namespace shell {
void OutputLog::Add(std::string_view bytes) {
  total_ += bytes.size();
  if (bytes.size() > maximum_) bytes.remove_prefix(bytes.size() - maximum_);
  kept_ += bytes;
  // Not at each call: many small pieces would move the rest each time.
  if (kept_.size() > maximum_ + maximum_ / 8) kept_.erase(0, kept_.size() - maximum_);
}

std::uint64_t OutputLog::readable() const {
  return finished_ ? total_ : begin() + support::WithoutCutEnd(kept_).size();
}

OutputLog::Piece OutputLog::Read(std::uint64_t offset, std::size_t maximum) const {
  const std::uint64_t last = readable();
  offset = std::min(offset, last);
  const std::uint64_t from = offset < begin() ? CharacterFrom(begin()) : offset;
  std::string_view bytes = std::string_view(kept_).substr(from - begin(), last - from);
  if (bytes.size() > maximum) {
    const std::string_view whole = support::WithoutCutEnd(bytes.substr(0, maximum));
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
  if (offset >= last) return offset;
  const auto rest = std::string_view(kept_).substr(offset - begin(), last - offset);
  return last - support::WithoutCutBeginning(rest).size();
}

}  // namespace shell
