#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mcp/json_escape.h"

namespace mcp {

/// The text of one message. A tool's answer carries its text twice, once escaped and once escaped
/// again; where that text is large, it is kept once, as it is, and escaped piece by piece when it
/// is written. A value; one thread at a time.
class Line {
 public:
  Line() = default;

  // Most messages are plain text: let them be passed as such.
  Line(std::string text) { AppendText(std::move(text)); }
  Line(const char* text) : Line(std::string(text)) {}

  /// Appends `text`, which must be valid UTF-8, escaped when it is written. It is shared, not
  /// copied.
  void Append(std::shared_ptr<const std::string> text, Escaping escaping);

  /// Appends what `other` holds, of which nothing was taken yet.
  void Append(Line other);

  [[nodiscard]] bool empty() const { return parts_.empty(); }

  /// How many bytes are kept in memory; a text that several parts share counts once.
  [[nodiscard]] std::size_t kept_bytes() const;

  /// Replaces `piece` by the next part of the text, of at most `kLongestPiece` bytes; false when
  /// there is no more. What was taken is given up.
  bool Take(std::string& piece);
  static constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kLongestPiece = kPieceBytes * kLongestEscape;

  /// All the text that is left, in one.
  [[nodiscard]] std::string Text() &&;

 private:
  void AppendText(std::string text);

  struct Part {
    std::shared_ptr<const std::string> text;
    Escaping escaping = Escaping::kNone;
  };

  std::vector<Part> parts_;
  std::size_t first_ = 0;   // the first part of which something is left
  std::size_t offset_ = 0;  // taken of it
};

}  // namespace mcp
