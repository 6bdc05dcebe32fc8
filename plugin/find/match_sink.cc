#include "find/match_sink.h"

#include <charconv>
#include <cstdio>
#include <utility>

#include "support/utf8.h"

namespace find {
namespace {

/// With room for grep's name and number.
constexpr std::size_t kMaxField = kMaxGrepLine + (std::size_t{8} << 10);

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kGroupSeparator = "--\n";

/// As git prints it with core.quotePath off: in double quotes and with C's escapes if it contains
/// control characters, double quotes or backslashes (git's quote.c).
std::string GitQuotedName(std::string_view name) {
  constexpr std::string_view kSpecial = "\a\b\t\n\v\f\r\"\\";
  constexpr std::string_view kLetters = "abtnvfr\"\\";
  std::string quoted = "\"";
  for (const char c : name) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (const auto at = kSpecial.find(c); at != std::string_view::npos) {
      quoted += {'\\', kLetters[at]};
    } else if (byte < 0x20 || byte == 0x7F) {
      std::array<char, 16> octal{};
      std::snprintf(octal.data(), octal.size(), "\\%03o", byte);
      quoted += octal.data();
    } else {
      quoted += c;
    }
  }
  return quoted.size() == 1 + name.size() ? std::string(name) : quoted + '"';
}

std::size_t ToNumber(std::string_view digits) {
  std::size_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

void MatchSink::Start(bool is_git) {
  error_text.clear();
  is_git_ = is_git;
  first_ = is_git ? kName : kText;
  field_ = first_;
}

bool MatchSink::OnOutput(shell::Stream stream, std::string_view bytes) {
  if (stream == shell::Stream::kOutput) {
    while (!bytes.empty()) Take(bytes);
  } else {
    error_text += bytes.substr(0, kMaxWarnings - error_text.size());
  }
  return true;
}

std::string MatchSink::Finish() {
  kept_ += Missing();
  return std::move(kept_);
}

std::string MatchSink::Missing() const {
  if (kept_matches_ == matches_) {
    return is_full_ ? "[The context after the last match is not complete.]\n" : "";
  }
  const std::string shown =
      std::to_string(kept_matches_) + " of " + std::to_string(matches_) +
      (request_.names_only ? " files"
                           : " matching lines, in " + std::to_string(files_) + " files,") +
      " are shown. ";
  if (is_full_) {
    return "[Only the first " + shown +
           "Narrow the search with a path, an include or a longer pattern.]\n";
  }
  return "[Only " + shown + "Raise " + (is_cut_per_file_ ? "max_matches_per_file" : "") +
         (is_cut_per_file_ && is_cut_in_total_ ? " and " : "") +
         (is_cut_in_total_ ? "total_max_matches" : "") + " for more.]\n";
}

void MatchSink::Take(std::string_view& bytes) {
  const std::size_t end = bytes.find(field_ == kText ? '\n' : '\0');
  const std::string_view piece = bytes.substr(0, end);
  const std::string_view kept = piece.substr(0, kMaxField - fields_[field_].size());
  fields_[field_] += kept;
  left_out_ += piece.size() - kept.size();
  bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  if (end != std::string_view::npos) EndField();
}

void MatchSink::EndField() {
  if (field_ != kText && !request_.names_only) {
    field_ = field_ == kName ? kNumber : kText;
    left_out_ = 0;
    return;
  }
  if (request_.names_only) {
    AddName(fields_[first_]);
  } else if (is_git_) {
    AddGitLine(fields_[kName], fields_[kNumber], fields_[kText]);
  } else {
    AddGrepLine(fields_[kText]);
  }
  for (std::string& field : fields_) field.clear();
  field_ = first_;
  left_out_ = 0;
}

void MatchSink::AddGitLine(std::string_view name, std::string_view number, std::string_view text) {
  if (!request_.has_context()) return AddLine(name, ':', number, text);
  if (name.starts_with(kGroupSeparator)) name.remove_prefix(kGroupSeparator.size());
  const std::size_t end = text.find_first_not_of(kDigits);
  const bool has_column = end != 0 && end != std::string_view::npos && text[end] == '\0';
  if (has_column) text.remove_prefix(end + 1);
  AddLine(name, has_column ? ':' : '-', number, text);
}

void MatchSink::AddGrepLine(std::string_view line) {
  const bool has_context = request_.has_context();
  const std::size_t null = has_context ? line.find('\0') : std::string_view::npos;
  if (null != std::string_view::npos && AddSplitAt(null, line)) return;
  const std::string_view signs = has_context ? ":-" : ":";
  for (std::size_t at = line.find_first_of(signs); at != std::string_view::npos;
       at = line.find_first_of(signs, at + 1)) {
    if (AddSplitAt(at, line)) return;
  }
}

/// False if the line's name cannot end at `at`.
bool MatchSink::AddSplitAt(std::size_t at, std::string_view line) {
  const std::size_t end = line.find_first_not_of(kDigits, at + 1);
  if (end == std::string_view::npos || end == at + 1) return false;
  const char sign = line[end];
  if (sign != ':' && sign != '-') return false;
  if (line[at] != '\0' && line[at] != sign) return false;
  AddLine(line.substr(0, at), sign, line.substr(at + 1, end - at - 1), line.substr(end + 1));
  return true;
}

void MatchSink::AddName(std::string_view name) {
  BeginFile(name);
  if (!is_included_) return;
  ++matches_;
  if (MayKeepMatch() && Keep(0, printed_file_ + "\n")) ++kept_matches_;
}

void MatchSink::AddLine(std::string_view name, char sign, std::string_view digits,
                        std::string_view text) {
  BeginFile(name);
  if (!is_included_) return;
  const std::size_t number = ToNumber(digits);
  if (sign == ':') {
    ++matches_;
    ++matches_in_file_;
    const bool is_kept = MayKeepMatch() && Keep(number, Format(':', digits, text));
    if (is_kept) ++kept_matches_;
    context_end_ = is_kept ? number + request_.after : 0;
    pending_.clear();
  } else if (number <= context_end_) {
    if (!is_full_) Keep(number, Format('-', digits, text));
  } else if (request_.before > 0 && !is_full_) {
    if (pending_.size() == request_.before) pending_.pop_front();
    pending_.push_back(Format('-', digits, text));
  }
}

void MatchSink::BeginFile(std::string_view name) {
  if (!is_git_ && name.starts_with("./")) name.remove_prefix(2);
  if (name == file_) return;
  file_ = name;
  printed_file_ = GitQuotedName(name);
  is_included_ = request_.include == nullptr || request_.include->Matches(support::ToUtf8(name));
  if (is_included_) ++files_;
  matches_in_file_ = 0;
  last_number_ = 0;
  context_end_ = 0;
  pending_.clear();
}

bool MatchSink::MayKeepMatch() {
  if (is_full_) return false;
  const bool over_file = matches_in_file_ > request_.maximum_per_file;
  const bool over_total = !over_file && kept_matches_ >= request_.maximum_total;
  is_cut_per_file_ = is_cut_per_file_ || over_file;
  is_cut_in_total_ = is_cut_in_total_ || over_total;
  return !over_file && !over_total;
}

/// Keeps a line and what is pending before it, or nothing if they do not fit.
bool MatchSink::Keep(std::size_t number, const std::string& line) {
  std::string group;
  const bool follows = last_number_ != 0 && last_number_ + 1 + pending_.size() == number;
  if (request_.has_context() && !kept_.empty() && !follows) group = kGroupSeparator;
  for (const std::string& before : pending_) group += before;
  group += line;
  is_full_ = kept_.size() + group.size() > request_.maximum_output_bytes;
  if (is_full_) return false;
  kept_ += group;
  last_number_ = number;
  return true;
}

std::string MatchSink::Format(char sign, std::string_view digits, std::string_view text) const {
  const std::string_view kept = support::CutText(text, kMaxGrepLine);
  const std::size_t left_out = text.size() - kept.size() + left_out_;
  std::string line = printed_file_;
  line += sign;
  line += digits;
  line += sign;
  line += kept;
  if (left_out > 0) line += "… [" + std::to_string(left_out) + " bytes left out]";
  return line + "\n";
}

}  // namespace find
