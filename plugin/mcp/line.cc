#include "mcp/line.h"

#include <string_view>
#include <utility>

namespace mcp {

Line::Line(std::string text) {
  Append(std::make_shared<const std::string>(std::move(text)), Escaping::kNone);
}

void Line::Append(std::shared_ptr<const std::string> text, Escaping escaping) {
  if (!text->empty()) parts_.push_back({std::move(text), escaping});
}

void Line::Append(Line other) {
  for (Part& part : other.parts_) parts_.push_back(std::move(part));
}

std::size_t Line::bytes() const {
  std::size_t bytes = 0;
  for (std::size_t i = first_; i < parts_.size(); ++i) bytes += parts_[i].text->size();
  return bytes - offset_;
}

std::size_t Line::escaped_bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += EscapedBytes(*part.text, part.escaping);
  return bytes;
}

bool Line::Take(std::string& piece) {
  piece.clear();
  // Small parts go together: each piece may cost a system call.
  while (first_ < parts_.size() && piece.size() < kPieceBytes) {
    Part& part = parts_[first_];
    const std::string_view taken =
        std::string_view(*part.text).substr(offset_, kPieceBytes - piece.size());
    AppendEscaped(piece, taken, part.escaping);
    offset_ += taken.size();
    if (offset_ < part.text->size()) continue;
    part.text.reset();
    ++first_;
    offset_ = 0;
  }
  return !piece.empty();
}

std::string Line::Text() && {
  std::string text;
  std::string piece;
  while (Take(piece)) text += piece;
  return text;
}

}  // namespace mcp
