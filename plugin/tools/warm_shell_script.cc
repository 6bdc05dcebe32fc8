#include "tools/warm_shell_script.h"

#include <algorithm>
#include <array>

#include "tools/session_signal.h"
#include "tools/shell_quote.h"

namespace tools {
namespace {

/// Behind kSignalOthers. Argument: process id of the login shell. Descriptors: 0 to 2 are the
/// channel's, 4 takes the answer: the directory of the watcher's descriptors, in which 3 and 2 lead
/// to the relays and 9 to the login shell. Not 1: while the watcher prints into 9, a shell has put
/// that in the place of its 1, and who opened 1 then would write to the login shell what it runs. 9
/// is open for reading too: nobody else may read from it yet, and a line that a shell which died
/// has not read is read back and printed, so that it can be run elsewhere. See command_script.cc
/// for the signals, the closing of descriptors and the pauses.
constexpr std::string_view kHelper = R"(trap '' HUP INT QUIT TERM PIPE
main=$1
relay() { exec tee /dev/null 2>/dev/null 3>&- 4>&- 5<&- 6>&- 7>&- 8>&- 9>&-; }
watch() {
  IFS= read -r mark || exit
  printf '%s\n' "$1" >&4
  exec 4>&- 5<&- 6>&- 7>&- 8>&-
  exec 9<>"$1"9
  printf '%s\n' "$mark" >&9
  if IFS= read -r line; then printf '%s\n' "$line" >&9; else exec 9>&-; fi
  while read -r rest; do :; done
  {
    if kill -0 "$main"; then
      kill -TERM "-$main"
      others TERM
      for pause in 0.02 0.1 0.2 0.3 0.38; do
        kill -0 "-$main" || others 0 || break
        sleep "$pause" || { sleep 1; break; }
      done
      kill -KILL "-$main"
      others KILL
    elif printf '%s\n' "$mark" >&9 && IFS= read -r unread <&9 && [ "$unread" != "$mark" ]; then
      printf '%s\n' "$unread"
    fi
  } 2>/dev/null
  printf '%s\n' "$mark"
  printf '%s\n' "$mark" >&2
}
[ -w /proc/self/fd/1 ] || exit
exec 5<&0 6>&1 7>&2 </dev/null
{
  {
    {
      read -r self rest </proc/self/stat
      watch "/proc/$self/fd/"
    } 2>&8 <&5 9>&1 >&3 | : &
  } 3>&1 | relay >&6 &
} 8>&1 | relay >&7 &
)";

/// What runs after the profile, in the login shell, is one line, since bash counts the lines of
/// what it evaluates from there: kRemember, the directory of the watcher's descriptors, kLook, the
/// directory, kWait. The only variable is an array, so that one `unset` removes all traces:
///   0  a command that sets $? to what it was, or nothing
///   1  $_
///   2  the directory of the watcher's descriptors
///   3  names that are no programs
///   4  the mark; then the line
///   4, 5, 6  later: the command's assignments, the rest of it, what to put between them
constexpr std::string_view kRemember = R"(LIMACTL_MCP=("$?" "$_" )";
constexpr std::string_view kLook =
    R"(); LIMACTL_MCP[0]=${LIMACTL_MCP[0]/#[1-9]*/(exit ${LIMACTL_MCP[0]});}; )"
    R"(LIMACTL_MCP[0]=${LIMACTL_MCP[0]#0}; )"
    R"(LIMACTL_MCP[3]=$'\n'$(compgen -A function)$'\n'; )"
    R"([[ ($BASH_VERSINFO -ge 5 || $BASH_VERSION == 4.4*) && )"
    R"($- == hBc && $SHELLOPTS == braceexpand:hashall:interactive-comments && -z $(trap -p) && )"
    R"($BASHOPTS != *expand_aliases* && $BASHOPTS != *extdebug* && $BASHOPTS != *nocasematch* && )"
    R"(${LIMACTL_MCP[3]} != *$'\n'@(compgen|eval|exec|hash|printf|read|trap|unset|:)$'\n'* && )";
constexpr std::string_view kWait =
    R"( -ef . ]] && LIMACTL_MCP[3]+=$(compgen -b)$'\n' && )"
    R"({ IFS= read -r 'LIMACTL_MCP[4]' && )"
    R"(printf '%s %s\n' "${LIMACTL_MCP[4]}" "$$" >"${LIMACTL_MCP[2]}3" && )"
    R"(IFS= read -r 'LIMACTL_MCP[4]'; } <"${LIMACTL_MCP[2]}9" && )"
    R"(eval "${LIMACTL_MCP[4]}")";

/// What bash reads as the beginning of something else than a simple command (reserved words that
/// ShellQuote leaves bare).
constexpr std::array<std::string_view, 17> kReservedWords{
    "case",     "coproc", "do", "done",   "elif", "else", "esac",  "fi",   "for",
    "function", "if",     "in", "select", "then", "time", "until", "while"};

/// Variables whose assignment changes bash itself, which then must not be the one that starts the
/// program.
constexpr std::array<std::string_view, 11> kHeededVariables{
    "EXECIGNORE", "FUNCNEST", "GLOBIGNORE", "IFS",        "LANG", "LIMACTL_MCP",
    "OPTIND",     "PATH",     "SHLVL",      "TEXTDOMAIN", "_"};
constexpr std::array<std::string_view, 4> kHeededBeginnings{"BASH", "HIST", "LC_", "POSIX"};

/// `text` as one word of bash, without a line end and in ASCII.
std::string QuoteOnOneLine(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F;
  });
  if (plain) return ShellQuote(text);
  std::string quoted = "$'";
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte >= 0x20 && byte < 0x7F) {
      quoted += c;
    } else {
      quoted += '\\';
      for (const unsigned shift : {6U, 3U, 0U}) {
        quoted += static_cast<char>('0' + ((byte >> shift) & 7U));  // three octal digits
      }
    }
  }
  return quoted + "'";
}

bool IsHeeded(std::string_view name) {
  if (name.ends_with('+')) name.remove_suffix(1);
  return std::find(kHeededVariables.begin(), kHeededVariables.end(), name) !=
             kHeededVariables.end() ||
         std::any_of(kHeededBeginnings.begin(), kHeededBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

/// Whether bash itself would take the beginning of the command for something else than the name of
/// a simple command's program, or would show in the output that it was not the first to see it.
bool NeedsNewShell(const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (std::find(kReservedWords.begin(), kReservedWords.end(), word) != kReservedWords.end()) {
    return true;
  }
  // bash's -c takes what looks like an option for one.
  if (word.starts_with('-') || word.starts_with('+')) return true;
  // The lines of `set -x` show how deep in evaluations they are.
  if (word == "source" || word == ".") return true;
  if (word == "eval") {
    return std::any_of(words.begin(), words.end(), [](const std::string& text) {
      return text.find("set ") != std::string::npos;
    });
  }
  // The exec builtin makes such a path absolute, which the program and its shell's messages show.
  return word.find('/') != std::string::npos && !word.starts_with('/');
}

/// How many of the words are assignments before the command; nothing where one of them is heeded.
std::optional<std::size_t> CountAssignments(const std::vector<std::string>& words) {
  std::size_t count = 0;
  while (count < words.size() && AssignmentPrefix(words[count]) > 0) {
    const std::size_t equals = AssignmentPrefix(words[count]) - 1;
    if (IsHeeded(std::string_view(words[count]).substr(0, equals))) return std::nullopt;
    ++count;
  }
  return count;
}

/// Commands of bash: where the word names a program that can be started, and nothing that bash
/// would rather run itself, they say how bash starts it in its own place. As bash does then, with
/// the program's path in the environment.
std::string ChooseExec(const std::string& word) {
  if (ShellQuote(word) != word) return "";  // not worth the risk: bash starts a child
  const bool has_path = word.find('/') != std::string::npos;
  const std::string path = has_path ? word : "${BASH_CMDS[" + word + "]}";
  const std::string found = has_path ? "-f " + word + " && -x " + word + " ]]"
                                     : "1 ]] && hash -- " + word + " 2>/dev/null";
  return "if [[ ${LIMACTL_MCP[3]} != *$'\\n'" + word + "$'\\n'* && " + found +
         "; then LIMACTL_MCP[6]=" + path +
         "; LIMACTL_MCP[6]=\"_=${LIMACTL_MCP[6]@Q} exec -- \"; fi; ";
}

}  // namespace

bool MayBeBash(std::string_view shell) {
  return shell.empty() || shell == "bash" || shell.ends_with("/bash");
}

guest::Command MakeWarmShellScript(const WarmShellOptions& options) {
  const std::string shell = options.shell.empty() ? "\"$SHELL\"" : ShellQuote(options.shell);
  const std::string look =
      std::string(kLook) + QuoteOnOneLine(options.directory) + std::string(kWait);
  guest::Command command;
  command.hold_standard_input_open = true;
  command.sink_knows_end = true;
  command.turn = guest::Turn::kOpenEnded;
  command.standard_input = options.mark + "\n";
  command.command_line = "case " + shell + " in */bash|bash) ;; *) exit 1 ;; esac; set -- " +
                         ShellQuote(std::string(kSignalOthers) + std::string(kHelper)) +
                         "; exec 3>&1; set -- \"$(set -- /bin/sh -c \"$1\" limactl-mcp $$"
                         "; command -v setsid >/dev/null 2>&1 && set -- setsid \"$@\""
                         "; exec \"$@\" 4>&1 >&3 3>&-)\""
                         "; exec 3>&- </dev/null"
                         "; [ -n \"$1\" ] || exit 1; exec >\"$1\"3 2>\"$1\"2; cd " +
                         ShellQuote(options.directory) + " || exit 1 ; exec " + shell + " -l -c " +
                         ShellQuote(kRemember) + "\"$1\"" + ShellQuote(look);
  return command;
}

std::optional<std::string> WarmShellInput(const std::vector<std::string>& words,
                                          const std::string& directory,
                                          const std::string& refusal) {
  const std::optional<std::size_t> assignments = CountAssignments(words);
  if (!assignments) return std::nullopt;
  const auto name = words.begin() + static_cast<std::ptrdiff_t>(*assignments);
  std::string choose_exec;
  if (name != words.end()) {
    if (NeedsNewShell({name, words.end()})) return std::nullopt;
    choose_exec = ChooseExec(*name);
  }
  std::string before = ShellCommand({words.begin(), name});
  const std::string command = ShellCommand(words);
  if (name != words.end() && !before.empty()) before += ' ';
  std::string line = "if [[ " + QuoteOnOneLine(directory) + " -ef . && -x . ]]; then " +
                     choose_exec + "LIMACTL_MCP[4]=" + QuoteOnOneLine(before) +
                     "; LIMACTL_MCP[5]=" + QuoteOnOneLine(command.substr(before.size())) +
                     "; BASH_EXECUTION_STRING=${LIMACTL_MCP[4]}${LIMACTL_MCP[5]}; SECONDS=0; eval "
                     "\"unset -v LIMACTL_MCP; : ${LIMACTL_MCP[1]@Q}; ${LIMACTL_MCP[0]} "
                     "${LIMACTL_MCP[4]}${LIMACTL_MCP[6]}${LIMACTL_MCP[5]}\"; else printf %s " +
                     refusal + " >\"${LIMACTL_MCP[2]}3\"; fi\n";
  if (line.size() > kLongestWarmShellInput) return std::nullopt;
  return line;
}

}  // namespace tools
