// SPDX-License-Identifier: Apache-2.0
#include "find/content_search.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "find/find_listing.h"
#include "shell/shell_quote.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"
#include "support/units.h"
#include "support/utf8.h"

namespace find {
namespace {

// Exit statuses: git-grep's own, and search.sh's.
constexpr int kNoMatchStatus = 1;
constexpr int kNoGitStatus = 97;
constexpr int kNoDirectoryStatus = 98;
constexpr int kKilledStatus = 137;

/// With room for a column.
constexpr std::size_t kMaxField = kMaxGrepLine + 32;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kGroupSeparator = "--\n";

/// How git searches.
struct Ways {
  bool perl = true;          ///< Perl's expressions, else extended ones
  bool skips_large = false;  ///< not files that it cannot hold in memory
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether other lines may keep a line from matching: by lookaround, by anchors of the whole text,
/// or by a part that gives nothing back. Errs on the side of true.
bool OtherLinesMayDecide(std::string_view perl_expression) {
  static const support::Regex signs(R"(\(\?(?:<!|[!>(^-])|\(\*|[+*?}]\+|\\[AZzGK])",
                                    support::Regex::kLatin1);
  return signs.PartialMatch(perl_expression);
}

/// The next piece of an expression: quoted text, an escape, a class, or one byte.
bool TakePiece(std::string_view& rest, std::string& piece) {
  static const support::Regex one(
      R"((?s)(\\Q.*?\\E|\\x\{\w*\}|\\x\w\w|\\0\d\d|\\.|\(\?\^?|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|.))",
      support::Regex::kLatin1);
  return one.Consume(rest, &piece);
}

/// The same, but `$` also matches before a CR at a line's end, and `^` after a byte order mark at
/// its beginning.
std::string WithLineEnds(std::string_view expression, bool is_perl) {
  std::string result;
  std::string_view rest = expression;
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

/// git first searches all the rest of a file for a pattern, and looks at lines only if that finds
/// something. A pattern in parentheses is matched line by line, which is slower.
std::string Pattern(const SearchRequest& request, bool perl) {
  if (request.fixed_strings) return "-F -e " + shell::ShellQuote(request.pattern);
  const std::string option = "-e " + shell::ShellQuote(WithLineEnds(request.pattern, perl));
  if (!perl) return "-E " + option;
  return "--perl-regexp " +
         (OtherLinesMayDecide(request.pattern) ? "'(' " + option + " ')'" : option);
}

/// Each with a space before it.
std::string Options(const SearchRequest& request) {
  // A file that the path names is searched whatever it is.
  std::string options = request.file.empty() ? " -I" : " -a";
  if (!request.case_sensitive) options += " -i";
  if (request.names_only) return options + " -l";
  if (request.before > 0) options += support::Format(" -B {}", request.before);
  if (request.after > 0) options += support::Format(" -A {}", request.after);
  return request.has_context() ? options + " --column" : options;
}

std::string Pathspecs(const SearchRequest& request) {
  if (!request.file.empty()) return " " + shell::ShellQuote(":(literal)" + request.file);
  if (request.include == nullptr) return " .";
  std::string pathspecs;
  for (const std::string& pathspec : request.include->pathspecs) {
    pathspecs += ' ' + shell::ShellQuote(pathspec);
  }
  return pathspecs;
}

shell::Script SearchScript(const SearchRequest& request, const Ways& ways) {
  const bool takes_all = request.no_ignore || !request.file.empty();
  return {"begin_search " + shell::ShellQuote(request.directory) + "; skips_large=" +
              (ways.skips_large ? "yes" : "") + "; search() { git_grep" + Options(request) + " " +
              Pattern(request, ways.perl) + " -- \"$@\"; }; search_with_git " +
              (takes_all ? "all" : "visible") + Pathspecs(request),
          ScriptFunctions()};
}

/// Changes the ways to others that may succeed after these have failed with this error text. The
/// text may quote the pattern and so mislead, but none is tried twice.
bool TakeOtherWays(Ways& ways, int status, std::string_view error_text) {
  if (ways.perl && Contains(error_text, "Perl-compatible") && Contains(error_text, "compiled")) {
    ways.perl = false;
    return true;
  }
  const bool lacks_memory = status == kKilledStatus || Contains(error_text, "Out of memory") ||
                            Contains(error_text, "Cannot allocate memory");
  return !std::exchange(ways.skips_large, ways.skips_large || lacks_memory) && lacks_memory;
}

[[noreturn]] void ThrowFailure(const SearchRequest& request, bool perl, int status,
                               std::string error_text) {
  error_text.resize(error_text.find_last_not_of(" \n") + 1);
  const std::string given = WithLineEnds(request.pattern, perl);
  if (const auto at = error_text.find(given); at != std::string::npos && !given.empty()) {
    error_text.replace(at, given.size(), request.pattern);
  }
  throw support::Error("git grep failed in the guest (exit status {}){}", status,
                       error_text.empty() ? "." : ": " + error_text);
}

/// Formats what git found as `git grep -n` does, keeps the first lines up to the request's limits,
/// and counts all matches. Reads name, NUL, number, NUL, text, newline; or names that end with NUL.
/// With context, matching lines have a column and NUL before their text, and "--" and a newline may
/// stand before a name. Names may contain newlines, a text NULs. Names after an absolute one are
/// relative to that directory.
class MatchSink final : public shell::OutputSink {
 public:
  explicit MatchSink(const SearchRequest& request) : request_(request) {}

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) {
      while (!bytes.empty()) Take(bytes);
    } else {
      error_text += bytes.substr(0, kMaxWarnings - error_text.size());
    }
    return true;
  }

  /// Returns the lines kept and, if some are missing, a last one with the totals.
  std::string Finish() {
    std::string lines;
    for (const auto& [file, text] : kept_) lines += text;
    if (request_.has_context()) lines.erase(0, kGroupSeparator.size());
    return lines + Missing();
  }

  std::string error_text;

 private:
  enum Field { kName, kNumber, kText };

  [[nodiscard]] std::string Missing() const {
    if (kept_matches_ == matches_) {
      return is_full_ ? "[The context after the last match is not complete.]\n" : "";
    }
    const std::string what = request_.names_only ? "files"
                                                 : support::Format("matching lines, in {},",
                                                                   support::Count(files_, "file"));
    if (is_full_) {
      return support::Format(
          "[Only the first {} of {} {} are shown. "
          "Narrow the search with a path, an include or a longer pattern.]\n",
          kept_matches_, matches_, what);
    }
    const char* const limits = !is_cut_in_total_   ? "max_matches_per_file"
                               : !is_cut_per_file_ ? "total_max_matches"
                                                   : "max_matches_per_file and total_max_matches";
    return support::Format("[Only {} of {} {} are shown. Raise {} for more.]\n", kept_matches_,
                           matches_, what, limits);
  }

  void Take(std::string_view& bytes) {
    const std::size_t end = bytes.find(field_ == kText ? '\n' : '\0');
    const std::string_view piece = bytes.substr(0, end);
    const std::string_view kept = piece.substr(0, kMaxField - fields_[field_].size());
    fields_[field_] += kept;
    left_out_ += piece.size() - kept.size();
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end != std::string_view::npos) EndField();
  }

  void EndField() {
    if (field_ == kName && fields_[kName].starts_with('/')) {
      const std::size_t own = std::min(fields_[kName].size(), request_.directory.size() + 1);
      base_ = fields_[kName].substr(own) + "/";
      fields_[kName].clear();
      return;
    }
    if (field_ != kText && !request_.names_only) {
      field_ = field_ == kName ? kNumber : kText;
      left_out_ = 0;
      return;
    }
    if (request_.names_only) {
      AddName(base_ + fields_[kName]);
    } else {
      AddFields(fields_[kName], fields_[kNumber], fields_[kText]);
    }
    for (std::string& field : fields_) field.clear();
    field_ = kName;
    left_out_ = 0;
  }

  void AddFields(std::string_view name, std::string_view number, std::string_view text) {
    const bool has_separator = request_.has_context() && name.starts_with(kGroupSeparator);
    if (has_separator) name.remove_prefix(kGroupSeparator.size());
    const std::string full = base_ + std::string(name);
    if (!request_.has_context()) return AddLine(full, ':', number, text);
    const std::size_t end = text.find_first_not_of(kDigits);
    const bool has_column = end != 0 && end != std::string_view::npos && text[end] == '\0';
    if (has_column) text.remove_prefix(end + 1);
    AddLine(full, has_column ? ':' : '-', number, text);
  }

  void AddName(std::string_view name) {
    BeginFile(name);
    if (!is_included_) return;
    ++matches_;
    if (MayKeepMatch() && Keep(0, printed_file_ + "\n")) ++kept_matches_;
  }

  void AddLine(std::string_view name, char sign, std::string_view digits, std::string_view text) {
    BeginFile(name);
    if (!is_included_) return;
    const std::size_t number = std::strtoull(std::string(digits).c_str(), nullptr, 10);
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

  void BeginFile(std::string_view name) {
    if (name == file_) return;
    file_ = name;
    printed_file_ = support::Printable(name, "\t");
    is_included_ = request_.include == nullptr || request_.include->Matches(support::ToUtf8(name));
    if (is_included_) ++files_;
    matches_in_file_ = 0;
    last_number_ = 0;
    context_end_ = 0;
    pending_.clear();
  }

  bool MayKeepMatch() {
    if (is_full_) return false;
    const bool over_file = matches_in_file_ > request_.maximum_per_file;
    const bool over_total = !over_file && kept_matches_ >= request_.maximum_total;
    is_cut_per_file_ = is_cut_per_file_ || over_file;
    is_cut_in_total_ = is_cut_in_total_ || over_total;
    return !over_file && !over_total;
  }

  /// Keeps a line and what is pending before it, or nothing if they do not fit. With context, a
  /// separator stands before each group, but the first one's is not printed.
  bool Keep(std::size_t number, const std::string& line) {
    const bool follows = last_number_ != 0 && last_number_ + 1 + pending_.size() == number;
    std::string group(request_.has_context() && !follows ? kGroupSeparator : "");
    const std::size_t unprinted = kept_.empty() ? group.size() : 0;
    for (const std::string& before : pending_) group += before;
    group += line;
    const std::size_t bytes = kept_bytes_ + group.size() - unprinted;
    is_full_ = bytes > request_.maximum_output_bytes;
    if (is_full_) return false;
    kept_[file_] += group;
    kept_bytes_ = bytes;
    last_number_ = number;
    return true;
  }

  [[nodiscard]] std::string Format(char sign, std::string_view digits,
                                   std::string_view text) const {
    const std::string_view kept = support::CutText(text, kMaxGrepLine);
    const std::size_t left_out = text.size() - kept.size() + left_out_;
    std::string line = printed_file_;
    line += sign;
    line += digits;
    line += sign;
    line += kept;
    if (left_out > 0)
      line += support::Format("… [{} bytes left out; `grep -o` shows a match in them]", left_out);
    return line + "\n";
  }

  const SearchRequest& request_;
  Field field_ = kName;
  std::array<std::string, 3> fields_;
  std::size_t left_out_ = 0;  ///< bytes at the end of a field
  std::string base_;          ///< for names of git: a directory and "/", or nothing

  std::string file_;
  std::string printed_file_;
  bool is_included_ = false;
  std::size_t matches_in_file_ = 0;
  std::size_t last_number_ = 0;      ///< of the line of this file that was kept last; 0: none
  std::size_t context_end_ = 0;      ///< last number that is context after a kept match
  std::deque<std::string> pending_;  ///< lines that are context if a match follows

  std::map<std::string, std::string> kept_;  ///< by file
  std::size_t kept_bytes_ = 0;
  bool is_full_ = false;  ///< a line did not fit
  bool is_cut_per_file_ = false;
  bool is_cut_in_total_ = false;
  std::size_t matches_ = 0;
  std::size_t kept_matches_ = 0;
  std::size_t files_ = 0;
};

}  // namespace

bool NeedsLineBreak(std::string_view expression) {
  static const support::Regex line_break(R"(\[\\n\]|\\(?:[nR]|x\{0*[aA]\}|x0[aA]|012))");
  static const support::Regex optional(R"(([?*|]|\{0?,))");
  static const support::Regex excluded(R"(\(\?<?![^()]*\))");
  std::string_view rest = expression;
  std::string before;
  for (std::string piece; excluded.Consume(rest) || TakePiece(rest, piece);) {
    std::string_view after = rest;
    const bool may_be_missing = before == "|" || optional.Consume(after);
    if (!may_be_missing && line_break.FullMatch(piece)) return true;
    before = std::exchange(piece, "");
  }
  return false;
}

SearchResult SearchContent(guest::Guest& guest, const SearchRequest& request,
                           const support::Context& context) {
  Ways ways;
  while (true) {
    MatchSink sink(request);
    const int status = guest.shells()
                           .RunScript(SearchScript(request, ways), sink, context)
                           .exit_status.value_or(-1);
    if (status == kNoDirectoryStatus) {
      throw support::Error("The directory to search cannot be entered in the guest.");
    }
    // Without the developer tools, the `git` of macOS only says to install them.
    if (status == kNoGitStatus || Contains(sink.error_text, "xcode-select: "))
      throw support::Error("A search needs git: install git in the guest.");
    if (status == 0 || status == kNoMatchStatus)
      return {sink.Finish(), WithoutVanished(sink.error_text)};
    if (!TakeOtherWays(ways, status, sink.error_text))
      ThrowFailure(request, ways.perl, status, sink.error_text);
  }
}

}  // namespace find
