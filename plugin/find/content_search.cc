#include "find/content_search.h"

#include <re2/re2.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "find/find_listing.h"
#include "find/script_functions.h"
#include "shell/shell_quote.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/re2_text.h"
#include "support/units.h"
#include "support/utf8.h"

namespace find {
namespace {

constexpr int kNoMatchStatus = 1;  // git-grep's own
// Of search.sh.
constexpr int kNoGitStatus = 97;
constexpr int kNoDirectoryStatus = 98;

/// With room for grep's name and number.
constexpr std::size_t kMaxField = kMaxGrepLine + (std::size_t{8} << 10);

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kGroupSeparator = "--\n";

enum class Engine { kGitPerl, kGitExtended, kGrep };

struct Attempt {
  Engine engine = Engine::kGitPerl;
  bool in_repository = true;
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether other lines may keep a line from matching: by lookaround, by anchors of the whole text,
/// or by a part that gives nothing back. Errs on the side of true.
bool OtherLinesMayDecide(std::string_view perl_expression) {
  static const re2::RE2 signs(R"(\(\?(?:<!|[!>(^-])|\(\*|[+*?}]\+|\\[AZzGK])", re2::RE2::Latin1);
  return re2::RE2::PartialMatch(support::Re2Text(perl_expression), signs);
}

/// git first searches all the rest of a file for a pattern, and looks at lines only if that finds
/// something. A pattern in parentheses is matched line by line, which is slower.
std::string GitPattern(const SearchRequest& request, Engine engine) {
  const std::string option = "-e " + shell::ShellQuote(request.pattern);
  if (request.fixed_strings) return "--fixed-strings " + option;
  if (engine == Engine::kGitExtended) return "--extended-regexp " + option;
  return "--perl-regexp " +
         (OtherLinesMayDecide(request.pattern) ? "'(' " + option + " ')'" : option);
}

/// Those that git and grep write alike, each with a space before it.
std::string CommonOptions(const SearchRequest& request) {
  std::string options = request.case_sensitive ? "" : " -i";
  if (request.names_only) return options + " -l";
  if (request.before > 0) options += " -B " + std::to_string(request.before);
  if (request.after > 0) options += " -A " + std::to_string(request.after);
  return options;
}

/// Arguments of search_with_git.
std::string GitArguments(const SearchRequest& request, Engine engine) {
  const bool searches_all = request.no_ignore || !request.file.empty();
  std::string arguments = (searches_all ? " --no-exclude-standard" : " --exclude-standard") +
                          CommonOptions(request) + (request.has_context() ? " --column " : " ") +
                          GitPattern(request, engine) + " --";
  if (!request.file.empty())
    return arguments + " " + shell::ShellQuote(":(literal)" + request.file);
  if (request.include == nullptr) return arguments + " .";
  for (const std::string& pathspec : request.include->pathspecs) {
    arguments += ' ' + shell::ShellQuote(pathspec);
  }
  return arguments;
}

/// Defines the function that search_with_grep needs.
std::string Files(const SearchRequest& request) {
  std::string files = "find . -name .git -prune -o -type f";
  if (request.include != nullptr) files += NameTests(request.include->name_filters);
  if (!request.file.empty()) files = "find " + shell::ShellQuote("./" + request.file);
  return "files() { " + files + " -print0; }; ";
}

shell::Script SearchScript(const SearchRequest& request, const Attempt& attempt) {
  std::string script = "begin_search " + shell::ShellQuote(request.directory) + "; ";
  if (attempt.engine == Engine::kGrep) {
    script += Files(request) + "search_with_grep " + (request.has_context() ? "--null" : "''") +
              (request.fixed_strings ? " -F" : " -E") + CommonOptions(request) + " -e " +
              shell::ShellQuote(request.pattern);
  } else {
    // Keeps git from looking for a repository.
    if (!attempt.in_repository) script += "export GIT_DIR=/dev/null; ";
    script += "search_with_git" + GitArguments(request, attempt.engine);
  }
  return {script, ScriptFunctions()};
}

/// The attempt that may succeed after `attempt` failed with this error text. The text may quote the
/// pattern and so mislead, but no attempt is made twice.
std::optional<Attempt> Next(Attempt attempt, int status, std::string_view error_text) {
  if (attempt.engine == Engine::kGrep) return std::nullopt;
  // Without the developer tools, the `git` of macOS only says to install them.
  if (status == kNoGitStatus || Contains(error_text, "xcode-select: ")) {
    attempt.engine = Engine::kGrep;
    return attempt;
  }
  if (attempt.engine == Engine::kGitPerl && Contains(error_text, "Perl-compatible") &&
      Contains(error_text, "compiled")) {
    attempt.engine = Engine::kGitExtended;
    return attempt;
  }
  if (attempt.in_repository &&
      (Contains(error_text, "config") || Contains(error_text, "repository"))) {
    attempt.in_repository = false;
    return attempt;
  }
  return std::nullopt;
}

[[noreturn]] void ThrowFailure(Engine engine, int status, std::string_view error_text) {
  error_text = error_text.substr(0, error_text.find_last_not_of(" \n") + 1);
  throw support::CallError(std::string(engine == Engine::kGrep ? "grep" : "git grep") +
                           " failed in the guest (exit status " + std::to_string(status) + ")" +
                           (error_text.empty() ? "." : ": " + std::string(error_text)));
}

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

/// Formats what git or grep found as `git grep -n` does, keeps the first lines up to the request's
/// limits, and counts all matches. Reads
///   git   name, NUL, number, NUL, text, newline. With context, matching lines have a column and
///         NUL before their text, and "--" and a newline may stand before a name
///   grep  name, ':' (with context NUL, ':' or '-'), number, ':' or '-', text, newline
/// or, of git, names that end with NUL, of grep with newlines. git's names may contain newlines, a
/// text NULs.
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
    kept_ += Missing();
    return std::move(kept_);
  }

  std::string error_text;

 private:
  enum Field { kName, kNumber, kText };

  [[nodiscard]] std::string Missing() const {
    if (kept_matches_ == matches_) {
      return is_full_ ? "[The context after the last match is not complete.]\n" : "";
    }
    const std::string shown =
        std::to_string(kept_matches_) + " of " + std::to_string(matches_) +
        (request_.names_only ? " files"
                             : " matching lines, in " + support::Count(files_, "file") + ",") +
        " are shown. ";
    if (is_full_) {
      return "[Only the first " + shown +
             "Narrow the search with a path, an include or a longer pattern.]\n";
    }
    return "[Only " + shown + "Raise " + (is_cut_per_file_ ? "max_matches_per_file" : "") +
           (is_cut_per_file_ && is_cut_in_total_ ? " and " : "") +
           (is_cut_in_total_ ? "total_max_matches" : "") + " for more.]\n";
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

  void AddGitLine(std::string_view name, std::string_view number, std::string_view text) {
    if (!request_.has_context()) return AddLine(name, ':', number, text);
    if (name.starts_with(kGroupSeparator)) name.remove_prefix(kGroupSeparator.size());
    const std::size_t end = text.find_first_not_of(kDigits);
    const bool has_column = end != 0 && end != std::string_view::npos && text[end] == '\0';
    if (has_column) text.remove_prefix(end + 1);
    AddLine(name, has_column ? ':' : '-', number, text);
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

  /// Keeps a line and what is pending before it, or nothing if they do not fit.
  bool Keep(std::size_t number, const std::string& line) {
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

  [[nodiscard]] std::string Format(char sign, std::string_view digits,
                                   std::string_view text) const {
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

  const SearchRequest& request_;
  const bool is_git_;
  const Field first_;
  Field field_;
  std::array<std::string, 3> fields_;
  std::size_t left_out_ = 0;  ///< bytes at the end of a field

  std::string file_;
  std::string printed_file_;
  bool is_included_ = false;
  std::size_t matches_in_file_ = 0;
  std::size_t last_number_ = 0;      ///< of the line of this file that was kept last; 0: none
  std::size_t context_end_ = 0;      ///< last number that is context after a kept match
  std::deque<std::string> pending_;  ///< lines that are context if a match follows

  std::string kept_;
  bool is_full_ = false;  ///< a line did not fit
  bool is_cut_per_file_ = false;
  bool is_cut_in_total_ = false;
  std::size_t matches_ = 0;
  std::size_t kept_matches_ = 0;
  std::size_t files_ = 0;
};

}  // namespace

SearchResult SearchContent(guest::Guest& guest, const SearchRequest& request,
                           const support::Context& context) {
  Attempt attempt;
  while (true) {
    const bool is_git = attempt.engine != Engine::kGrep;
    MatchSink sink(request, is_git);
    const int status = guest.shells()
                           .RunScript(SearchScript(request, attempt), sink, context)
                           .exit_status.value_or(-1);
    if (status == kNoDirectoryStatus) {
      throw support::CallError("The directory to search cannot be entered in the guest.");
    }
    if (status == 0 || (status == kNoMatchStatus && !Contains(sink.error_text, "xcode-select: "))) {
      return {is_git, sink.Finish(), sink.error_text};
    }
    const std::optional<Attempt> next = Next(attempt, status, sink.error_text);
    if (!next || sink.has_lines()) ThrowFailure(attempt.engine, status, sink.error_text);
    attempt = *next;
  }
}

}  // namespace find
