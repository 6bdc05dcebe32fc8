#include "tools/command_script.h"

#include "tools/shell_quote.h"

namespace tools {
namespace {

/// Arguments: process id of the command, mark, process_files. Descriptors: 0 to 2 are the
/// channel's, 4 takes the answer: what to put before "1" and "2" to open the relays.
///
/// - Signals are ignored, so that `kill 0` in a guest without setsid leaves the relays alone, and a
///   relay survives the end of its channel.
/// - Each process closes what it does not use: a forgotten write end would keep a relay from
/// ending.
/// - `kill -TERM "-$main"` without "--", which dash and BusyBox do not know there.
constexpr std::string_view kHelper = R"(trap '' HUP INT QUIT TERM PIPE
main=$1 mark=$2
relay() { exec tee /dev/null 2>/dev/null 4>&- 5<&- 6>&- 7>&- 8>&-; }
watch() {
  printf '%s\n' "$1" >&4
  exec 4>&- 5<&- 6>&- 7>&- 8>&-
  while read -r rest; do :; done
  {
    if kill -0 "$main"; then
      kill -TERM "-$main"
      tries=0
      while [ "$tries" -lt 10 ] && kill -0 "-$main"; do
        sleep 0.1 || sleep 1
        tries=$((tries + 1))
      done
      kill -KILL "-$main"
    fi
  } 2>/dev/null
  printf '%s\n' "$mark"
  printf '%s\n' "$mark" >&2
}
exec 5<&0 6>&1 7>&2 </dev/null
if [ -w "$3/fd/1" ]; then
  {
    { read -r self rest <"$3/stat"; watch "/proc/$self/fd/"; } 2>&8 <&5 | relay >&6 &
  } 8>&1 | relay >&7 &
else
  pipes=${TMPDIR:-/tmp}/$mark
  mkdir -m 700 "$pipes" && mkfifo "$pipes/1" "$pipes/2" || exit
  relay <"$pipes/1" >&6 &
  relay <"$pipes/2" >&7 &
  watch "$pipes/" <&5 >"$pipes/1" 2>"$pipes/2" &
fi 2>/dev/null
)";

/// `command` is a word of the shell that yields the command. Nothing is exported, and positional
/// parameters do not outlive `exec`: the command sees nothing of this.
std::string CommandLine(const CommandScriptOptions& options, const std::string& command) {
  const std::string shell = options.shell.empty() ? "\"$SHELL\"" : ShellQuote(options.shell);
  return "set -- " + ShellQuote(kHelper) + " " + command + "; exec 3>&1; printf '%s %s\\n' " +
         options.mark + " $$" + "; set -- \"$2\" \"$(set -- /bin/sh -c \"$1\" limactl-mcp $$ " +
         options.mark + " " + ShellQuote(options.process_files) +
         "; command -v setsid >/dev/null 2>&1 && set -- setsid \"$@\""
         "; exec \"$@\" 4>&1 >&3 3>&-)\""
         "; exec 3>&- </dev/null"
         "; if [ -n \"$2\" ]; then exec >\"$2\"1 2>\"$2\"2"
         "; case $2 in /proc/*) ;; *) rm -r \"$2\" ;; esac; fi"
         "; cd " +
         ShellQuote(options.directory) + " || exit 1 ; exec " + shell + " -l -c \"${1%.}\"";
}

}  // namespace

guest::Command MakeCommandScript(const CommandScriptOptions& options) {
  guest::Command command;
  command.hold_standard_input_open = true;
  command.sink_knows_end = true;
  // The dot keeps line ends at the end of the command from being cut off by $(…).
  command.command_line = CommandLine(options, ShellQuote(options.command + "."));
  if (command.command_line.size() > guest::kMaximumCommandLine) {
    command.command_line = CommandLine(
        options, "\"$(head -c " + std::to_string(options.command.size()) + "; printf .)\"");
    command.standard_input = options.command;
  }
  return command;
}

std::string GroupEndScript(long process_group) {
  const std::string group = std::to_string(process_group);
  const std::string script =
      "group=" + group +
      "; left() { kill -0 \"-$group\" || return 1; found=$(ps -A -o pgid= -o stat=) || return 0;"
      " printf '%s\\n' \"$found\" | while read -r of state; do"
      " [ \"$of\" = \"$group\" ] || continue; case $state in Z*) ;; *) echo x; esac; done |"
      " grep -q x; }"
      "; tries=0; while left; do"
      " [ \"$tries\" -lt 30 ] || { kill -KILL \"-$group\"; exit 1; }"
      "; sleep 0.1 || sleep 1; tries=$((tries + 1)); done";
  return "exec /bin/sh -c " + ShellQuote(script) + " </dev/null >/dev/null 2>&1";
}

}  // namespace tools
