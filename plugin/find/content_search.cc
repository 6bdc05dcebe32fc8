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
#include "support/regex.h"
#include "support/units.h"
#include "support/utf8.h"

namespace find {
namespace {

// Exit statuses: git-grep's own, and search.sh's.
constexpr int kNoMatchStatus = 1;
constexpr int kNoGitStatus = 97;
constexpr int kNoDirectoryStatus = 98;

/// With room for grep's name and number.
constexpr std::size_t kMaxField = kMaxGrepLine + (std::size_t{8} << 10);

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kGroupSeparator = "--\n";

enum class Engine { kGitPerl, kGitExtended, kGrep };

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

/// Which files search.sh searches.
std::string What(const SearchRequest& request) {
  return request.no_ignore || !request.file.empty() ? "all" : "visible";
}

/// git first searches all the rest of a file for a pattern, and looks at lines only if that finds
/// something. A pattern in parentheses is matched line by line, which is slower.
std::string Pattern(const SearchRequest& request, Engine engine) {
  if (request.fixed_strings) return "-F -e " + shell::ShellQuote(request.pattern);
  const std::string option =
      "-e " + shell::ShellQuote(WithLineEnds(request.pattern, engine == Engine::kGitPerl));
  if (engine != Engine::kGitPerl) return "-E " + option;
  return "--perl-regexp " +
         (OtherLinesMayDecide(request.pattern) ? "'(' " + option + " ')'" : option);
}

/// The options that git and grep share, each with a space before it.
std::string CommonOptions(const SearchRequest& request) {
  // A file that the path names is searched whatever it is.
  std::string options = request.file.empty() ? " -I" : " -a";
  if (!request.case_sensitive) options += " -i";
  if (request.names_only) return options + " -l";
  if (request.before > 0) options += support::Format(" -B {}", request.before);
  if (request.after > 0) options += support::Format(" -A {}", request.after);
  return options;
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

/// Defines the function that search_with_grep needs.
std::string Files(const SearchRequest& request) {
  std::string files = "find . -name .git -prune -o -type f";
  if (request.include != nullptr) files += NameTests(request.include->name_filters);
  if (!request.file.empty()) files = "find " + shell::ShellQuote("./" + request.file);
  return "files() { " + files + " -print0; }; ";
}

std::string Beginning(const SearchRequest& request) {
  return "begin_search " + shell::ShellQuote(request.directory) + "; ";
}

shell::Script SearchScript(const SearchRequest& request, Engine engine) {
  std::string script = Beginning(request);
  const std::string pattern = Pattern(request, engine);
  if (engine == Engine::kGrep) {
    script += Files(request) + "search_with_grep " + (request.has_context() ? "--null" : "''") +
              CommonOptions(request) + " " + pattern;
  } else {
    script += "search() { git_grep" + CommonOptions(request) +
              (request.has_context() ? " --column " : " ") + pattern +
              " -- \"$@\"; }; search_with_git " + What(request) + Pathspecs(request);
  }
  return {script, ScriptFunctions()};
}

/// The engine that may succeed after `engine` failed with this error text. The text may quote the
/// pattern and so mislead, but none is tried twice.
std::optional<Engine> Next(Engine engine, int status, std::string_view error_text) {
  if (engine == Engine::kGrep) return std::nullopt;
  // Without the developer tools, the `git` of macOS only says to install them.
  if (status == kNoGitStatus || Contains(error_text, "xcode-select: ")) return Engine::kGrep;
  if (engine == Engine::kGitPerl && Contains(error_text, "Perl-compatible") &&
      Contains(error_text, "compiled")) {
    return Engine::kGitExtended;
  }
  return std::nullopt;
}

[[noreturn]] void ThrowFailure(const SearchRequest& request, Engine engine, int status,
                               std::string error_text) {
  error_text.resize(error_text.find_last_not_of(" \n") + 1);
  const std::string given = WithLineEnds(request.pattern, engine == Engine::kGitPerl);
  if (const auto at = error_text.find(given); at != std::string::npos && !given.empty()) {
    error_text.replace(at, given.size(), request.pattern);
  }
  throw support::CallError("{} failed in the guest (exit status {}){}",
                           engine == Engine::kGrep ? "grep" : "git grep", status,
                           error_text.empty() ? "." : ": " + error_text);
}

/// Formats what git or grep found as `git grep -n` does, keeps the first lines up to the request's
/// limits, and counts all matches. Reads
///   git   name, NUL, number, NUL, text, newline. With context, matching lines have a column and
///         NUL before their text, and "--" and a newline may stand before a name
///   grep  name, ':' (with context NUL, ':' or '-'), number, ':' or '-', text, newline
/// or, of git, names that end with NUL, of grep with newlines. git's names may contain newlines, a
/// text NULs. Names after an absolute one are relative to that directory.
class MatchSink final : public shell::OutputSink {
 public:
  MatchSink(const SearchRequest& request, bool is_git)
      : request_(request), is_git_(is_git), first_(is_git ? kName : kText), field_(first_) {}

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) {
      while (!bytes.empty()) Take(bytes);
    } else {
      error_text += bytes.substr(0, kMaxWarnings - error_text.size());
    }
    return true;
  }

  [[nodiscard]] bool has_lines() const { return matches_ > 0; }

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
    if (is_git_ && field_ == kName && fields_[kName].starts_with('/')) {
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
      AddName(base_ + fields_[first_]);
    } else if (is_git_) {
      AddGitLine(fields_[kName], fields_[kNumber], fields_[kText]);
    } else {
      AddGrepLine(fields_[kText]);
    }
    for (std::string& field : fields_) field.clear();
    field_ = first_;
    left_out_ = 0;
  }

  void AddGitLine(std::string_view name, std::string_view number, std::string_view text) {
    const bool has_separator = request_.has_context() && name.starts_with(kGroupSeparator);
    if (has_separator) name.remove_prefix(kGroupSeparator.size());
    const std::string full = base_ + std::string(name);
    if (!request_.has_context()) return AddLine(full, ':', number, text);
    const std::size_t end = text.find_first_not_of(kDigits);
    const bool has_column = end != 0 && end != std::string_view::npos && text[end] == '\0';
    if (has_column) text.remove_prefix(end + 1);
    AddLine(full, has_column ? ':' : '-', number, text);
  }

  void AddGrepLine(std::string_view line) {
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
  bool AddSplitAt(std::size_t at, std::string_view line) {
    const std::size_t end = line.find_first_not_of(kDigits, at + 1);
    if (end == std::string_view::npos || end == at + 1) return false;
    const char sign = line[end];
    if (sign != ':' && sign != '-') return false;
    if (line[at] != '\0' && line[at] != sign) return false;
    AddLine(line.substr(0, at), sign, line.substr(at + 1, end - at - 1), line.substr(end + 1));
    return true;
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
    // grep sorts by itself, and its names are uncertain.
    kept_[is_git_ ? file_ : ""] += group;
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
    if (left_out > 0) line += support::Format("… [{} bytes left out]", left_out);
    return line + "\n";
  }

  const SearchRequest& request_;
  const bool is_git_;
  const Field first_;
  Field field_;
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

/// Sets what a search without a match has left out: one more round trip.
void SetLeftOut(guest::Guest& guest, const SearchRequest& request, SearchResult& result,
                const support::Context& context) {
  const std::string output =
      guest::CaptureScript(guest,
                           {Beginning(request) + "left_out " + What(request) +
                                (request.include == nullptr ? " no" : " yes") + Pathspecs(request),
                            ScriptFunctions()},
                           context)
          .output;
  std::array<std::vector<std::string>, 3> parts;  // as left_out prints them
  std::size_t part = 0;
  for (std::size_t at = 0, end = 0; (end = output.find('\0', at)) != std::string::npos;
       at = end + 1) {
    const std::string name = output.substr(at, end - at);
    if (name == "//") {
      part = std::min(part + 1, parts.size() - 1);
    } else if (part == 2 || request.include == nullptr ||
               request.include->Matches(support::ToUtf8(name))) {
      parts.at(part).push_back(name);
    }
  }
  const auto& [binary, included, ignored] = parts;
  result.selects_nothing = request.include != nullptr && included.empty();
  if (result.selects_nothing) result.left_out = "The include selects no file with content. ";
  if (!binary.empty()) {
    result.left_out +=
        support::Format("Binary or UTF-16, so not searched for text: {}. ", Some(binary));
  }
  if (!ignored.empty()) {
    result.left_out +=
        support::Format("Ignored by git, so not searched without no_ignore: {}.", Some(ignored));
  }
}

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
  Engine engine = Engine::kGitPerl;
  while (true) {
    const bool is_git = engine != Engine::kGrep;
    MatchSink sink(request, is_git);
    const int status = guest.shells()
                           .RunScript(SearchScript(request, engine), sink, context)
                           .exit_status.value_or(-1);
    if (status == kNoDirectoryStatus) {
      throw support::CallError("The directory to search cannot be entered in the guest.");
    }
    if (status == 0 || (status == kNoMatchStatus && !Contains(sink.error_text, "xcode-select: "))) {
      SearchResult result = {is_git, sink.Finish(), WithoutVanished(sink.error_text)};
      if (is_git && result.lines.empty()) SetLeftOut(guest, request, result, context);
      return result;
    }
    const std::optional<Engine> next = Next(engine, status, sink.error_text);
    if (!next || sink.has_lines()) ThrowFailure(request, engine, status, sink.error_text);
    engine = *next;
  }
}

}  // namespace find
