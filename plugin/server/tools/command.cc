// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "mcp/json_writer.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/regex.h"
#include "tools/tools.h"

// What is known of a command by its words alone: the guest is not asked.
namespace tools {
namespace {

using Words = std::vector<std::string>;
using support::Regex;

constexpr int kCommandNotFound = 127;

/// Bytes of a line that an error repeats.
constexpr std::size_t kMaxShownLine = 1024;

/// The index of the program; the number of words if all are assignments.
std::size_t ProgramOf(const Words& words) {
  static const Regex assignment(R"((?s)[A-Za-z_]\w*\+?=.*)");
  const auto is_assignment = [](const std::string& word) { return assignment.FullMatch(word); };
  return static_cast<std::size_t>(std::ranges::find_if_not(words, is_assignment) - words.begin());
}

/// How to give the words from `last` on as a line for a shell.
std::string UseBash(const Words& words, std::size_t last) {
  std::string line = shell::ShellCommand({words.begin(), words.begin() + std::ptrdiff_t(last)});
  if (last < words.size()) line += (last > 0 ? " " : "") + words[last];
  if (last + 1 != words.size() || line.size() > kMaxShownLine) line = "...";
  return support::Format(
      "command is a list of words, not a shell line; use {}, and quote in it a name with blanks",
      mcp::ToJson({"bash", "-c", line}));
}

/// The program, or a value if there is none, is a line. A program's path may have blanks.
void RefuseLine(const Words& words, std::size_t program) {
  static const Regex sign(R"([\s|&;<>()$`\\"'*?~])");
  static const Regex path(R"((?s)\.{0,2}/[^|&;<>$`]*)");
  const auto is_line = [](const std::string& word) {
    return sign.PartialMatch(word) && !path.FullMatch(word);
  };
  if (program == words.size()) {
    program = static_cast<std::size_t>(std::ranges::find_if(words, is_line) - words.begin());
  }
  if (program < words.size() && is_line(words[program]))
    throw support::Error("nothing was run: {}", UseBash(words, program));
}

/// Whether the words before and after number `at` show that it is an argument.
bool IsArgument(const Words& words, std::size_t program, std::size_t at) {
  static const Regex compares(R"((?:.*/)?(?:expr|test|\[))");
  static const Regex takes_value(
      R"((?:.*/)?(?:(?:cut|paste|xargs|csv\w+) -\w*d|(?:sort|join) -\w*t|(?:column|nl|pr|seq) -\w*[os])"
      R"(|(?:\w*awk|psql) -F|(?:\w*grep|rg|sed) -\w*e|\S* --?[\w-]*(?:delim|sep|regexp)\w*))");
  static const Regex command(R"([\w./~$!:({\["'].*)");
  const bool is_last = at + 1 == words.size();
  if (is_last) return words[at] != "&";
  if (compares.FullMatch(words[program]) || !command.FullMatch(words[at + 1])) return true;
  return std::any_of(words.begin(), words.begin() + std::ptrdiff_t(at), [&](const auto& word) {
    return takes_value.FullMatch(word + " " + words[at - 1]);
  });
}

void RefuseOperators(const Words& words, std::size_t program) {
  static const Regex alone(R"(\|[|&]?|&&?|;|[\d&]?(?:>[>|]?|<{1,3}))");
  // `<div>`, `>=1` and the signs of a conflict are text.
  static const Regex with_target(
      R"([\d&]?>>?(?:&-|&?[\w./~$][^<>\s]*)|<<-?["'\\]?\w+["']?|<<<[\w"'$]\S*)"
      R"(|\d?</?[\w.~-]+[./][\w./~-]*|[<>]\(.*\))");
  for (std::size_t at = program + 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool is_operator =
        with_target.FullMatch(word) || (alone.FullMatch(word) && !IsArgument(words, program, at));
    if (!is_operator) continue;
    throw support::Error(
        "nothing was run: {} looks like shell syntax, but no shell reads these words. Use {} for a "
        "shell line, and quote in it what is an argument, such as '|'{}",
        word, R"(["bash","-c","..."])",
        word == "&" && at + 1 == words.size() ? "; start_process leaves a command running" : "");
  }
}

std::string NoteOf(const Words& words, std::size_t program) {
  static const Regex sets(
      R"(\.|(?:un)?alias|cd|declare|export|popd|pushd|set|shopt|source|ulimit|umask|unset)");
  if (program < words.size() && !sets.FullMatch(words[program])) return "";
  return "Each call has a shell of its own: what this sets is gone after it. Use `directory`, "
         "NAME=value before the program, or [\"bash\",\"-c\",\"...\"].";
}

}  // namespace

Command ParseCommand(const nlohmann::json& arguments) {
  const auto words = arguments.at("command").get<Words>();
  if (words.empty()) {
    throw support::Error(
        "command is an empty list: give the program and its arguments, such as [\"ls\",\"-l\"]");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].find('\0') != std::string::npos)
      throw support::Error("command[{}] contains a NUL character, which no argument can", i);
  }
  std::string text = shell::ShellCommand(words);
  if (text.size() > kMaxShellCommand) {
    throw support::Error(
        "argument list too long: the command takes {} bytes when quoted for the guest's "
        "shell, which accepts at most {}. "
        "Write long text to a file with write_file and name the file.",
        text.size(), kMaxShellCommand);
  }
  const std::size_t program = ProgramOf(words);
  RefuseLine(words, program);
  RefuseOperators(words, program);
  return {words, std::move(text), NoteOf(words, program)};
}

std::string ShellLineHint(int status, const Command& command) {
  const std::size_t program = ProgramOf(command.words);
  const bool may_be_line =
      program < command.words.size() && command.words[program].find(' ') != std::string::npos;
  return status == kCommandNotFound && may_be_line ? UseBash(command.words, program) : "";
}

}  // namespace tools
