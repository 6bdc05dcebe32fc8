#include "find/grep_output.h"

#include <algorithm>
#include <utility>

namespace find {
namespace {

/// As git prints it with core.quotePath off: in double quotes and with C's escapes if it contains
/// control characters, double quotes or backslashes (git's quote.c).
std::string GitQuotedName(std::string_view name) {
  constexpr std::string_view kSpecial = "\a\b\t\n\v\f\r\"\\";
  constexpr std::string_view kLetters = "abtnvfr\"\\";
  std::string quoted;
  bool needs_quotes = false;
  for (const char c : name) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (const auto at = kSpecial.find(c); at != std::string_view::npos) {
      quoted += {'\\', kLetters[at]};
    } else if (byte < 0x20 || byte == 0x7F) {
      const auto octal_digit = [byte](unsigned shift) {
        return static_cast<char>('0' + ((byte >> shift) & 7U));
      };
      quoted += {'\\', octal_digit(6), octal_digit(3), octal_digit(0)};
    } else {
      quoted += c;
      continue;
    }
    needs_quotes = true;
  }
  return needs_quotes ? '"' + quoted + '"' : quoted;
}

/// Where to cut a long line: not within a UTF-8 character.
std::size_t CutPoint(std::string_view text) {
  if (text.size() <= kMaximumGrepLine) return text.size();
  std::size_t cut = kMaximumGrepLine;
  while (cut > kMaximumGrepLine - 3 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
    --cut;
  }
  return cut;
}

}  // namespace

void GrepOutput::Add(std::string_view name, std::string_view number, std::string_view text,
                     std::size_t more_bytes) {
  if (lines_ == 0 || name != file_) {
    ++files_;
    file_ = name;
    printed_file_ = GitQuotedName(name);
  }
  const bool nothing_left_out_yet = kept_lines_ == lines_;
  ++lines_;
  if (!nothing_left_out_yet) return;

  const std::string_view kept_text = text.substr(0, CutPoint(text));
  const std::size_t left_out = text.size() - kept_text.size() + more_bytes;
  const std::string cut = left_out > 0 ? "… [" + std::to_string(left_out) + " bytes left out]" : "";
  const std::size_t size = printed_file_.size() + number.size() + kept_text.size() + cut.size() +
                           std::string_view("::\n").size();
  if (kept_.size() + size > maximum_bytes_) return;
  kept_ += printed_file_;
  kept_ += ':';
  kept_ += number;
  kept_ += ':';
  kept_ += kept_text;
  kept_ += cut;
  kept_ += '\n';
  ++kept_lines_;
}

std::string GrepOutput::Finish() {
  if (kept_lines_ < lines_) {
    kept_ += "[Only the first " + std::to_string(kept_lines_) + " of " + std::to_string(lines_) +
             " matching lines, in " + std::to_string(files_) +
             " files, are shown. Narrow the search with a path, an include or a longer pattern.]\n";
  }
  return std::move(kept_);
}

}  // namespace find
