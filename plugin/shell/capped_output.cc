#include "shell/capped_output.h"

#include <algorithm>

namespace shell {
namespace {

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// In one UTF-8 character.
constexpr std::size_t kMaximumContinuation = 3;

std::string_view CutEnd(std::string_view head) {
  const std::size_t newline = head.rfind('\n');
  if (newline != std::string_view::npos && newline >= head.size() / 2) {
    return head.substr(0, newline + 1);
  }
  // Remove a character that was cut.
  std::size_t end = head.size();
  for (std::size_t i = 0; i <= kMaximumContinuation && end > 0; ++i) {
    --end;
    if (!IsContinuation(head[end])) {
      const auto first = static_cast<unsigned char>(head[end]);
      const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
      return end + length > head.size() ? head.substr(0, end) : head;
    }
  }
  return head;
}

/// The first byte of `tail` is not kept: it shows whether a line begins after it.
std::string_view CutBeginning(std::string_view tail) {
  const std::size_t newline = tail.find('\n');
  if (newline != std::string_view::npos && newline <= tail.size() / 2) {
    return tail.substr(newline + 1);
  }
  tail.remove_prefix(std::min<std::size_t>(1, tail.size()));
  std::size_t begin = 0;
  while (begin < tail.size() && begin < kMaximumContinuation && IsContinuation(tail[begin])) {
    ++begin;
  }
  return tail.substr(begin);
}

}  // namespace

void CappedOutput::Add(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t into_head = std::min(bytes.size(), half_ - head_.size());
  head_ += bytes.substr(0, into_head);
  bytes.remove_prefix(into_head);
  const std::size_t wanted = half_ + 1;  // and the byte before, for CutBeginning
  if (bytes.size() > wanted) bytes.remove_prefix(bytes.size() - wanted);
  tail_ += bytes;
  // Not at each call: many small pieces would move the tail each time.
  if (tail_.size() > 2 * wanted) tail_.erase(0, tail_.size() - wanted);
}

std::string CappedOutput::Text(std::string_view remedy) const {
  if (!is_cut()) return head_ + tail_;
  const std::size_t wanted = std::min(tail_.size(), half_ + 1);
  const std::string_view head = CutEnd(head_);
  const std::string_view tail = CutBeginning(std::string_view(tail_).substr(tail_.size() - wanted));
  std::string text(head);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "[… " + std::to_string(total_ - head.size() - tail.size()) + " bytes left out";
  text += remedy;
  text += " …]\n";
  text += tail;
  return text;
}

}  // namespace shell
