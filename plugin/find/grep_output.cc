#include "find/grep_output.h"

#include <algorithm>
#include <utility>

namespace find {
namespace {

/// Without the beginning of a UTF-8 character that a cut has gone through: it would look like bytes
/// that are not UTF-8.
std::string_view WithoutCutCharacter(std::string_view text) {
  constexpr std::size_t kMostOfACharacter = 3;
  for (std::size_t taken = 1; taken <= std::min(kMostOfACharacter, text.size()); ++taken) {
    const auto byte = static_cast<unsigned char>(text[text.size() - taken]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return length > taken ? text.substr(0, text.size() - taken) : text;
  }
  return text;
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

  std::string_view kept_text = text.substr(0, kMaximumGrepLine);
  if (kept_text.size() < text.size() + more_bytes) kept_text = WithoutCutCharacter(kept_text);
  const std::size_t left_out = text.size() - kept_text.size() + more_bytes;
  const std::string mark =
      left_out > 0 ? "… [" + std::to_string(left_out) + " bytes left out]" : "";
  const std::size_t size = printed_file_.size() + number.size() + kept_text.size() + mark.size() +
                           std::string_view("::\n").size();
  if (kept_.size() + size > maximum_bytes_) return;
  kept_ += printed_file_;
  kept_ += ':';
  kept_ += number;
  kept_ += ':';
  kept_ += kept_text;
  kept_ += mark;
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

}  // namespace find
