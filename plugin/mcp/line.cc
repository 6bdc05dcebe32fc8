#include "mcp/line.h"

#include <set>
#include <utility>

namespace mcp {

void Line::AppendText(std::string text) {
  if (text.empty()) return;
  parts_.push_back({std::make_shared<const std::string>(std::move(text)), Escaping::kNone});
}

void Line::Append(std::shared_ptr<const std::string> text, Escaping escaping) {
  if (text->empty()) return;
  parts_.push_back({std::move(text), escaping});
}

void Line::Append(Line other) {
  for (Part& part : other.parts_) parts_.push_back(std::move(part));
}

std::size_t Line::kept_bytes() const {
  std::size_t bytes = 0;
  std::set<const std::string*> seen;
  for (std::size_t i = first_; i < parts_.size(); ++i) {
    const std::string* text = parts_[i].text.get();
    if (seen.insert(text).second) bytes += text->size();
  }
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
