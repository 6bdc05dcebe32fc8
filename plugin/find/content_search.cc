#include "find/content_search.h"

#include <re2/re2.h>

#include <optional>
#include <string_view>

#include "find/find_listing.h"
#include "find/match_sink.h"
#include "find/programs.h"
#include "shell/shell_quote.h"
#include "support/errors.h"

namespace find {
namespace {

constexpr int kNoMatchStatus = 1;  // git-grep's own
// Of search.sh.
constexpr int kNoGitStatus = 97;
constexpr int kNoDirectoryStatus = 98;

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
  return re2::RE2::PartialMatch(perl_expression, signs);
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
  for (const std::string& pathspec : request.include->pathspecs()) {
    arguments += ' ' + shell::ShellQuote(pathspec);
  }
  return arguments;
}

/// Defines the function that search_with_grep needs.
std::string Files(const SearchRequest& request) {
  std::string files = "find . -name .git -prune -o -type f";
  if (request.include != nullptr) files += NameTests(request.include->name_filters());
  if (!request.file.empty()) files = "find " + shell::ShellQuote("./" + request.file);
  return "files() { " + files + " -print0; }\n";
}

std::string Script(const SearchRequest& request, const Attempt& attempt) {
  std::string script = std::string(git_program) + std::string(search_program) + "enter " +
                       shell::ShellQuote(request.directory) + "\n";
  if (attempt.engine == Engine::kGrep) {
    return script + Files(request) + "search_with_grep " +
           (request.has_context() ? "--null" : "''") + (request.fixed_strings ? " -F" : " -E") +
           CommonOptions(request) + " -e " + shell::ShellQuote(request.pattern);
  }
  // Keeps git from looking for a repository.
  if (!attempt.in_repository) script += "export GIT_DIR=/dev/null\n";
  return script + "search_with_git" + GitArguments(request, attempt.engine);
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
    sink.Start(attempt.engine != Engine::kGrep);
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

}  // namespace find
