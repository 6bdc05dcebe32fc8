#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mcp/json_writer.h"

namespace mcp {

/// The text of one message. A tool result carries its text twice, escaped once and twice. A large
/// text is kept once, unescaped, and escaped piece by piece as the line is written. Not
/// thread-safe.
class Line {
 public:
  Line() = default;

  // Most messages are plain text: allow them to be passed as such.
  Line(std::string text);
  Line(const char* text) : Line(std::string(text)) {}

  /// Appends `text`, which must be valid UTF-8. It is shared, not copied.
  void Append(std::shared_ptr<const std::string> text, Escaping escaping);

  /// Appends `other`, of which nothing was taken yet.
  void Append(Line other);

  /// How many bytes are left, before escaping.
  [[nodiscard]] std::size_t bytes() const;

  /// How many bytes the line will have. Nothing was taken yet.
  [[nodiscard]] std::size_t escaped_bytes() const;

  /// Replaces `piece` by the next part of the text, at most kPieceBytes before escaping, and frees
  /// what was taken. False at the end.
  bool Take(std::string& piece);
  static constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;

  [[nodiscard]] std::string Text() &&;

 private:
  struct Part {
    std::shared_ptr<const std::string> text;
    Escaping escaping;
  };

  std::vector<Part> parts_;
  std::size_t first_ = 0;   // the first part of which something is left
  std::size_t offset_ = 0;  // of what is left in it
};

}  // namespace mcp
