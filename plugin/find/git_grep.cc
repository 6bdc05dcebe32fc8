#include "find/git_grep.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "find/git_command.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/utf8.h"

namespace find {
namespace {

constexpr int kNoMatchStatus = 1;  // git-grep's own
constexpr int kNoGitStatus = 97;
constexpr int kNoDirectoryStatus = 98;

struct Variant {
  bool perl_expressions = true;  ///< false: extended ones
  bool in_repository = true;
};

/// Reads what `git grep -n --null` prints: name, NUL, line number, NUL, text, newline. A name may
/// hold newlines, a text NULs.
///
/// No output of git has been taken as long as an attempt has failed, so that attempts can follow
/// each other on one GrepOutput.
class GrepSink : public shell::OutputSink {
 public:
  GrepSink(GrepOutput& output, const IncludeFilter* include) : output_(output), include_(include) {}

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) {
      while (!bytes.empty()) Take(bytes);
    } else {
      words += bytes.substr(0, kMaximumGitWords - words.size());
    }
    return true;
  }

  std::string words;

 private:
  enum Field { kName, kNumber, kText };

  void Take(std::string_view& bytes) {
    const std::size_t end = bytes.find(field_ == kText ? '\n' : '\0');
    const std::string_view piece = bytes.substr(0, end);
    const std::string_view kept = piece.substr(0, kMaximumGrepLine - fields_[field_].size());
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
    if (IsIncluded(fields_[kName])) {
      output_.Add(fields_[kName], fields_[kNumber], fields_[kText], left_out_);
    }
    for (std::string& field : fields_) field.clear();
    field_ = kName;
    left_out_ = 0;
  }

  bool IsIncluded(const std::string& name) {
    if (include_ == nullptr) return true;
    if (name != judged_name_) {
      judged_name_ = name;
      judgement_ = include_->Matches(support::ToUtf8(name));
    }
    return judgement_;
  }

  GrepOutput& output_;
  const IncludeFilter* include_;
  Field field_ = kName;
  std::array<std::string, 3> fields_;
  std::size_t left_out_ = 0;
  std::string judged_name_;
  bool judgement_ = false;
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether other lines may keep a line from matching: by what must not stand before or after it, by
/// anchors of the whole text, or by a part that gives nothing back. Rather too often.
bool OtherLinesMayDecide(std::string_view perl_expression) {
  constexpr std::array<std::string_view, 16> kSigns = {"(?!", "(?<!", "(?>", "(?(", "(?-", "(?^",
                                                       "(*",  "++",   "*+",  "?+",  "}+",  "\\A",
                                                       "\\Z", "\\z",  "\\G", "\\K"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return Contains(perl_expression, sign); });
}

/// git looks for a pattern in all the rest of a file first, and looks at lines only where that
/// finds something; one in parentheses it looks for line by line, which is slower.
std::string PatternOptions(const std::string& pattern, bool is_perl_expression) {
  const std::string option = "-e " + shell::ShellQuote(pattern);
  if (!is_perl_expression) return "--extended-regexp " + option;
  return "--perl-regexp " + (OtherLinesMayDecide(pattern) ? "'(' " + option + " ')'" : option);
}

std::string Script(const GitGrepRequest& request, const Variant& variant) {
  const std::string directory = shell::ShellQuote(request.directory);
  std::string script = "cd -P -- " + directory + " && [ \"$PWD\" = " + directory + " ] || exit " +
                       std::to_string(kNoDirectoryStatus) + "\n" + GitEnvironment() +
                       "command -v git >/dev/null 2>&1 || exit " + std::to_string(kNoGitStatus) +
                       "\n";
  // With a repository that is none, git looks for no other.
  if (!variant.in_repository) script += "export GIT_DIR=/dev/null\n";
  script +=
      "search() { " + GitCommand() +
      " grep --no-index --null --line-number -H -I --no-color --no-column --no-heading --no-break"
      " --no-full-name --no-textconv \"$@\"; }\n"
      "set -- " +
      PatternOptions(request.pattern, variant.perl_expressions) + " --";
  for (const std::string& pathspec : request.pathspecs) script += ' ' + shell::ShellQuote(pathspec);
  if (!request.exclude_ignored) {
    return script + "\nsearch --no-exclude-standard \"$@\"\nexit\n";
  }
  // The top of a repository lies in none of its ignored directories, though a "*" names it too.
  return script +
         "\nsearch --exclude-standard \"$@\"\nstatus=$?\n"
         "if [ \"$status\" = 1 ] && [ ! -f .git ] && [ ! -f .git/HEAD ] && " +
         GitCommand() +
         " check-ignore --no-index -q . 2>/dev/null; then\n"
         "search --no-exclude-standard \"$@\"\nstatus=$?\nfi\nexit \"$status\"\n";
}

/// The attempt that may succeed where `variant` has failed with these words of git, which may quote
/// the pattern: none is made twice.
std::optional<Variant> Next(Variant variant, std::string_view words) {
  if (variant.perl_expressions && Contains(words, "Perl-compatible") &&
      Contains(words, "compiled")) {
    variant.perl_expressions = false;
    return variant;
  }
  if (variant.in_repository && (Contains(words, "config") || Contains(words, "repository"))) {
    variant.in_repository = false;
    return variant;
  }
  return std::nullopt;
}

[[noreturn]] void ThrowFailure(int status, std::string_view words) {
  words = words.substr(0, words.find_last_not_of(" \n") + 1);
  throw support::CallError("git grep failed in the guest (exit status " + std::to_string(status) +
                           ")" + (words.empty() ? "." : ": " + std::string(words)));
}

}  // namespace

GitGrepResult GitGrep(guest::Guest& guest, const GitGrepRequest& request, GrepOutput& output,
                      const support::Context& context) {
  Variant variant;
  while (true) {
    GrepSink sink(output, request.include);
    const int status =
        guest.RunScript(Script(request, variant), sink, context).exit_status.value_or(-1);
    // macOS has a `git` that only asks for the developer tools to be installed.
    if (status == kNoGitStatus || (status != 0 && Contains(sink.words, "xcode-select: "))) {
      return {false, ""};
    }
    if (status == kNoDirectoryStatus) {
      throw support::CallError("The directory to search cannot be entered in the guest.");
    }
    if (status == 0 || status == kNoMatchStatus) return {true, std::move(sink.words)};
    const std::optional<Variant> next = Next(variant, sink.words);
    if (!next || output.lines() > 0) ThrowFailure(status, sink.words);
    variant = *next;
  }
}

}  // namespace find
