#include "find/content_search.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "find/find_listing.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/utf8.h"

namespace find {
namespace {

constexpr int kNoMatchStatus = 1;  // git-grep's own
constexpr int kNoGitStatus = 97;
constexpr int kNoDirectoryStatus = 98;

enum class Engine { kGitPerl, kGitExtended, kGrep };

struct Attempt {
  Engine engine = Engine::kGitPerl;
  bool in_repository = true;
};

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

/// Where to cut a long line: not within a UTF-8 character.
std::size_t CutPoint(std::string_view text) {
  if (text.size() <= kMaximumGrepLine) return text.size();
  std::size_t cut = kMaximumGrepLine;
  while (cut > kMaximumGrepLine - 3 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
    --cut;
  }
  return cut;
}

/// Formats matching lines as `git grep -n` does, keeps the first ones up to a size, and counts all.
/// Reads what the engine prints: name, NUL, line number, NUL, text, newline; grep has ':' in place
/// of NUL. git's names may contain newlines, a text NULs.
class MatchSink : public shell::OutputSink {
 public:
  explicit MatchSink(const SearchRequest& request) : request_(request) {}

  /// Call it before each attempt: a failed one has printed no lines.
  void StartWith(Engine engine) {
    error_text.clear();
    first_ = engine == Engine::kGrep ? kText : kName;
    field_ = first_;
  }

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) {
      while (!bytes.empty()) Take(bytes);
    } else {
      error_text += bytes.substr(0, kMaximumWarnings - error_text.size());
    }
    return true;
  }

  [[nodiscard]] bool has_lines() const { return lines_ > 0; }

  std::string Finish() {
    if (kept_lines_ < lines_) {
      kept_ += "[Only the first " + std::to_string(kept_lines_) + " of " + std::to_string(lines_) +
               " matching lines, in " + std::to_string(files_) +
               " files, are shown. Narrow the search with a path, an include or a longer "
               "pattern.]\n";
    }
    return std::move(kept_);
  }

  std::string error_text;

 private:
  enum Field { kName, kNumber, kText };

  /// One byte more than is printed, and room for grep's name and number.
  static constexpr std::size_t kMaximumField = kMaximumGrepLine + 1 + (std::size_t{8} << 10);

  void Take(std::string_view& bytes) {
    const std::size_t end = bytes.find(field_ == kText ? '\n' : '\0');
    const std::string_view piece = bytes.substr(0, end);
    const std::string_view kept = piece.substr(0, kMaximumField - fields_[field_].size());
    fields_[field_] += kept;
    left_out_ += piece.size() - kept.size();
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end != std::string_view::npos) EndField();
  }

  void EndField() {
    if (field_ != kText) {
      field_ = field_ == kName ? kNumber : kText;
      left_out_ = 0;
      return;
    }
    if (first_ == kText) {
      AddGrepLine(fields_[kText]);
    } else {
      Add(fields_[kName], fields_[kNumber], fields_[kText]);
    }
    for (std::string& field : fields_) field.clear();
    field_ = first_;
    left_out_ = 0;
  }

  /// "./name:number:text"
  void AddGrepLine(std::string_view line) {
    for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
         colon = line.find(':', colon + 1)) {
      const std::size_t end = line.find_first_not_of("0123456789", colon + 1);
      if (end == std::string_view::npos || end == colon + 1 || line[end] != ':') continue;
      std::string_view name = line.substr(0, colon);
      if (name.starts_with("./")) name.remove_prefix(2);
      Add(name, line.substr(colon + 1, end - colon - 1), line.substr(end + 1));
      return;
    }
  }

  void Add(std::string_view name, std::string_view number, std::string_view text) {
    if (name != file_) {
      file_ = name;
      printed_file_ = GitQuotedName(name);
      is_included_ =
          request_.include == nullptr || request_.include->Matches(support::ToUtf8(name));
      if (is_included_) ++files_;
    }
    if (!is_included_) return;
    const bool is_cut = kept_lines_ < lines_;
    ++lines_;
    if (is_cut) return;
    const std::string_view kept_text = text.substr(0, CutPoint(text));
    const std::size_t left_out = text.size() - kept_text.size() + left_out_;
    std::string line = printed_file_ + ":" + std::string(number) + ":" + std::string(kept_text);
    if (left_out > 0) line += "… [" + std::to_string(left_out) + " bytes left out]";
    if (kept_.size() + line.size() + 1 > request_.maximum_output_bytes) return;
    kept_ += line + "\n";
    ++kept_lines_;
  }

  const SearchRequest& request_;
  Field first_ = kName;
  Field field_ = kName;
  std::array<std::string, 3> fields_;
  std::size_t left_out_ = 0;  ///< bytes at the end of a field

  std::string file_;
  std::string printed_file_;
  bool is_included_ = false;
  std::string kept_;
  std::size_t lines_ = 0;
  std::size_t kept_lines_ = 0;
  std::size_t files_ = 0;
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether other lines may keep a line from matching: by lookaround, by anchors of the whole text,
/// or by a part that gives nothing back. Errs on the side of true.
bool OtherLinesMayDecide(std::string_view perl_expression) {
  constexpr std::array<std::string_view, 16> kSigns = {"(?!", "(?<!", "(?>", "(?(", "(?-", "(?^",
                                                       "(*",  "++",   "*+",  "?+",  "}+",  "\\A",
                                                       "\\Z", "\\z",  "\\G", "\\K"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return Contains(perl_expression, sign); });
}

/// git first searches all the rest of a file for a pattern, and looks at lines only if that finds
/// something. A pattern in parentheses is matched line by line, which is slower.
std::string PatternOptions(const std::string& pattern, Engine engine) {
  const std::string option = "-e " + shell::ShellQuote(pattern);
  if (engine == Engine::kGitExtended) return "--extended-regexp " + option;
  return "--perl-regexp " + (OtherLinesMayDecide(pattern) ? "'(' " + option + " ')'" : option);
}

std::string GitScript(const SearchRequest& request, const Attempt& attempt) {
  std::string script =
      "command -v git >/dev/null 2>&1 || exit " + std::to_string(kNoGitStatus) + "\n";
  // Keeps git from looking for a repository.
  if (!attempt.in_repository) script += "export GIT_DIR=/dev/null\n";
  script +=
      "search() { " + GitCommand() +
      " grep --no-index --null --line-number -H -I --no-color --no-column --no-heading --no-break"
      " --no-full-name --no-textconv \"$@\"; }\n"
      "set -- " +
      PatternOptions(request.pattern, attempt.engine) + " --";
  if (!request.file.empty()) {
    return script + " " + shell::ShellQuote(":(literal)" + request.file) +
           "\nsearch --no-exclude-standard \"$@\"\nexit\n";
  }
  if (request.include == nullptr) {
    script += " .";
  } else {
    for (const std::string& pathspec : request.include->pathspecs()) {
      script += ' ' + shell::ShellQuote(pathspec);
    }
  }
  // The top of a repository is never ignored, though git says so if a "*" is.
  return script +
         "\nsearch --exclude-standard \"$@\"\nstatus=$?\n"
         "if [ \"$status\" = 1 ] && [ ! -f .git ] && [ ! -f .git/HEAD ] && " +
         GitCommand() +
         " check-ignore --no-index -q . 2>/dev/null; then\n"
         "search --no-exclude-standard \"$@\"\nstatus=$?\nfi\nexit \"$status\"\n";
}

/// In the C locale, so that a file of another encoding does not count as binary.
std::string GrepScript(const SearchRequest& request) {
  const std::string pattern = " -e " + shell::ShellQuote(request.pattern);
  std::string files = "find . -name .git -prune -o -type f";
  if (request.include != nullptr) files += NameTests(request.include->name_filters());
  if (!request.file.empty()) files = "find " + shell::ShellQuote("./" + request.file);
  return "export LC_ALL=C\nunset GREP_OPTIONS\n"
         "echo | grep -E" +
         pattern + " >/dev/null || [ $? = 1 ] || exit 2\n" + files +
         " -print0 | sort -z | xargs -0 grep -nHEI" + pattern + " --\nexit 0\n";
}

std::string Script(const SearchRequest& request, const Attempt& attempt) {
  const std::string directory = shell::ShellQuote(request.directory);
  return "cd -P -- " + directory + " && [ \"$PWD\" = " + directory + " ] || exit " +
         std::to_string(kNoDirectoryStatus) + "\n" + GitEnvironment() +
         (attempt.engine == Engine::kGrep ? GrepScript(request) : GitScript(request, attempt));
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

}  // namespace

SearchResult SearchContent(guest::Guest& guest, const SearchRequest& request,
                           const support::Context& context) {
  Attempt attempt;
  MatchSink sink(request);
  while (true) {
    sink.StartWith(attempt.engine);
    const int status =
        guest.RunScript(Script(request, attempt), sink, context).exit_status.value_or(-1);
    if (status == kNoDirectoryStatus) {
      throw support::CallError("The directory to search cannot be entered in the guest.");
    }
    if (status == 0 || (status == kNoMatchStatus && !Contains(sink.error_text, "xcode-select: "))) {
      return {attempt.engine != Engine::kGrep, sink.Finish(), sink.error_text};
    }
    const std::optional<Attempt> next = Next(attempt, status, sink.error_text);
    if (!next || sink.has_lines()) ThrowFailure(attempt.engine, status, sink.error_text);
    attempt = *next;
  }
}

std::string GitEnvironment() {
  // GIT_CONFIG_GLOBAL came with 2.32; before, git reads files below HOME and XDG_CONFIG_HOME.
  // Optional locks would write to a repository that is only read. In a partial clone git fetches
  // missing objects with programs that the repository names: no protocol is allowed.
  return "unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY"
         " GIT_NAMESPACE GIT_PREFIX GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM"
         " GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_LITERAL_PATHSPECS"
         " GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_TRACE GIT_TRACE_SETUP"
         " GIT_TRACE_PERFORMANCE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_EXEC_PATH"
         " GIT_ATTR_SOURCE GIT_REPLACE_REF_BASE\n"
         "export HOME=/dev/null XDG_CONFIG_HOME=/dev/null GIT_CONFIG_NOSYSTEM=1"
         " GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_ATTR_NOSYSTEM=1"
         " GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none GIT_PAGER=cat "
         "GIT_TERMINAL_PROMPT=0 TERM=dumb LC_ALL=C.UTF-8\n";
}

std::string GitCommand() {
  // safe.directory: on a mount the files may belong to a user that the guest does not have.
  // Nothing that git's ownership check guards against (hooks, monitors) is run here.
  return "git --no-pager -c safe.directory='*' -c core.fsmonitor=false -c core.untrackedCache=false"
         " -c core.quotePath=false -c core.excludesFile=/dev/null -c core.attributesFile=/dev/null"
         " -c core.hooksPath=/dev/null -c submodule.recurse=false -c color.ui=false"
         " -c grep.lineNumber=true -c grep.column=false -c grep.fullName=false -c grep.threads=0"
         " -c grep.patternType=default -c grep.extendedRegexp=false"
         " -c grep.fallbackToNoIndex=false -c color.grep=false";
}

}  // namespace find
