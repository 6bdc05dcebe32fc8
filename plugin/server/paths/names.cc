// SPDX-License-Identifier: Apache-2.0
#include "paths/names.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "shell/shell_quote.h"
#include "support/format.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/utf8.h"
#include "support/words.h"

namespace paths {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMaxName = 200;

struct Folding {
  std::string_view first;
  std::string_view last;
  std::string_view folded;
};

/// The characters that are ignored, or fold to ASCII. UTF-8 sorts like code points.
constexpr std::array kFoldings = {
    Folding{"\u00ad", "\u00ad", ""},         Folding{"\u00df", "\u00df", "ss"},
    Folding{"\u017f", "\u017f", "s"},        Folding{"\u034f", "\u034f", ""},
    Folding{"\u061c", "\u061c", ""},         Folding{"\u115f", "\u1160", ""},
    Folding{"\u17b4", "\u17b5", ""},         Folding{"\u180b", "\u180f", ""},
    Folding{"\u1e9e", "\u1e9e", "ss"},       Folding{"\u200b", "\u200f", ""},
    Folding{"\u202a", "\u202e", ""},         Folding{"\u2060", "\u206f", ""},
    Folding{"\u212a", "\u212a", "k"},        Folding{"\u3164", "\u3164", ""},
    Folding{"\ufb00", "\ufb00", "ff"},       Folding{"\ufb01", "\ufb01", "fi"},
    Folding{"\ufb02", "\ufb02", "fl"},       Folding{"\ufb03", "\ufb03", "ffi"},
    Folding{"\ufb04", "\ufb04", "ffl"},      Folding{"\ufb05", "\ufb06", "st"},
    Folding{"\ufe00", "\ufe0f", ""},         Folding{"\ufeff", "\ufeff", ""},
    Folding{"\uffa0", "\uffa0", ""},         Folding{"\ufff0", "\ufffb", ""},
    Folding{"\U0001bca0", "\U0001bca3", ""}, Folding{"\U0001d173", "\U0001d17a", ""},
    Folding{"\U000e0000", "\U000e0fff", ""},
};

/// Spaces, and a Braille pattern without dots.
constexpr std::string_view kBlanks =
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
    "\u2800\u3000";

/// Printable, and with code points that are not seen as \xHH.
std::string Escaped(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::string_view character = support::TakeCharacter(name);
    const bool is_seen = character.size() == 1 ||
                         (!FoldName(character).empty() && kBlanks.find(character) == kBlanks.npos);
    if (is_seen) text += support::Printable(character);
    for (const char byte : is_seen ? std::string_view() : character) {
      text += support::Printable({&byte, 1});  // escapes a part of a character
    }
  }
  return text;
}

std::string More(std::size_t all, std::size_t shown) {
  return all > shown ? support::Format(" and {} more", all - shown) : "";
}

}  // namespace

std::string FoldName(std::string_view name) {
  std::string folded;
  while (!name.empty()) {
    const std::string_view character = support::TakeCharacter(name);
    const auto* found = std::find_if(kFoldings.begin(), kFoldings.end(),
                                     [&](const Folding& one) { return character <= one.last; });
    folded += found == kFoldings.end() || character < found->first ? character : found->folded;
  }
  folded.resize(std::min(folded.size(), folded.find(':')));
  folded.erase(folded.find_last_not_of(" .") + 1);
  return support::LowerCase(folded) == "git~1" ? ".git" : folded;
}

std::string Folded(std::string_view path) {
  std::string folded;
  for (const std::string& name : support::Split(path, '/')) {
    folded += (folded.empty() ? "" : "/") + FoldName(name);
  }
  return support::LowerCase(folded);
}

bool HasHidden(std::string_view name) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  return !std::all_of(name.begin(), name.end(), is_plain) && Escaped(name) != name;
}

std::string Visible(std::string_view name) {
  constexpr std::size_t kHalf = kMaxName / 2;
  std::string text =
      name.size() <= kMaxName
          ? Escaped(name)
          : Escaped(support::WithoutCutEnd(name.substr(0, kHalf))) + "..." +
                Escaped(support::WithoutCutBeginning(name.substr(name.size() - kHalf)));
  // Else it could pose as the rest of a line.
  if (text.find(", ") == text.npos && text.find(": ") == text.npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos;) {
    text.replace(at, 1, R"(\x22)");
  }
  return '"' + text + '"';
}

std::string Word(std::string_view name) {
  return shell::ShellQuote(Visible(name));
}

std::string List(const Names& names, std::size_t most) {
  const std::size_t shown = std::min(names.size(), most);
  return support::Join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}) +
         More(names.size(), shown);
}

bool LeadsOut(std::string_view path, std::string_view target) {
  auto above = std::count(path.begin(), path.end(), '/');
  bool is_below_name = false;  // which may be a link: a ".." after it leads elsewhere
  for (const std::string& name : support::Split(target, '/')) {
    if (name == ".." && (is_below_name || --above < 0)) return true;
    if (name == "." || name == ".." || name.empty()) continue;
    if (Folded(name) == ".git") return true;
    is_below_name = true;
  }
  return target.starts_with('/');
}

}  // namespace paths
