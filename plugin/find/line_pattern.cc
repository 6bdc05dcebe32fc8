#include "find/line_pattern.h"

#include <re2/re2.h>

#include "support/re2_text.h"

namespace find {
namespace {

/// The next piece of an expression: quoted text, an escape, a class, or one byte.
bool TakePiece(re2::StringPiece& rest, std::string& piece) {
  static const re2::RE2 one(
      R"((?s)(\\Q.*?\\E|\\x\{\w*\}|\\x\w\w|\\0\d\d|\\.|\(\?\^?|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|.))",
      re2::RE2::Latin1);
  return re2::RE2::Consume(&rest, one, &piece);
}

}  // namespace

bool NeedsLineBreak(std::string_view expression) {
  static const re2::RE2 line_break(R"(\\(?:[nR]|x\{0*[aA]\}|x0[aA]|012))");
  static const re2::RE2 optional(R"((?:[?*]|\{0?,))");
  static const re2::RE2 excluded(R"(\(\?<?![^()]*\))");
  re2::StringPiece rest = support::Re2Text(expression);
  std::string piece;
  while (re2::RE2::Consume(&rest, excluded) || TakePiece(rest, piece)) {
    re2::StringPiece after = rest;
    if (re2::RE2::FullMatch(piece, line_break) && !re2::RE2::Consume(&after, optional)) return true;
    piece.clear();
  }
  return false;
}

std::string WithLineEnds(std::string_view expression, bool is_perl) {
  std::string result;
  re2::StringPiece rest = support::Re2Text(expression);
  // A group would change the numbers of others.
  const bool takes_group = expression.find('\\') == std::string_view::npos;
  for (std::string piece; TakePiece(rest, piece);) {
    if (piece == "$") {
      result += is_perl ? R"((?=\r?$))" : "\r?$";
    } else if (piece == "^" && is_perl) {
      // git may compare bytes, or characters.
      result += R"((?:^|(?<=^\xEF\xBB\xBF)|(?<=^\p{Cf})))";
    } else {
      result += piece == "^" && takes_group ? "^(\xEF\xBB\xBF)?" : piece;
    }
  }
  return result;
}

}  // namespace find
