#include "tools/command_script.h"

#include "tools/any_shell.h"
#include "tools/session_signal.h"
#include "tools/shell_quote.h"

namespace tools {
namespace {

/// Behind kSignalOthers. Arguments: process id of the command, beginning of the mark,
/// process_files, rest of the mark. Descriptors: 0 to 2 are the channel's, 4 takes the answer: what
/// to put before "1" and "2" to open the relays.
///
/// - The mark comes in two, so that a command that prints the arguments of all processes (ps -ef)
///   does not print the mark.
/// - Signals are ignored, so that `kill 0` in a guest without setsid leaves the relays alone, and a
///   relay survives the end of its channel.
/// - Each process closes what it does not use: a forgotten write end would keep a relay from
///   ending.
/// - exec closes descriptors by itself, before it starts a program: bash 3.2 (macOS) would keep
///   copies of them open in the program.
/// - `kill -TERM "-$main"` without "--", which dash and BusyBox do not know there.
/// - The pauses between TERM and KILL make one second, also where sleep takes whole ones only.
constexpr std::string_view kHelper =
    R"sh(trap "" HUP INT QUIT TERM PIPE; main=$1 mark=$2$4; )sh"
    R"sh(relay() { exec 4>&- 5<&- 6>&- 7>&- 8>&-; exec tee /dev/null 2>/dev/null; }; )sh"
    R"sh(watch() { echo "$1" >&4; exec 4>&- 5<&- 6>&- 7>&- 8>&-; )sh"
    R"sh(while read -r rest; do :; done; )sh"
    R"sh({ if kill -0 "$main"; then kill -TERM "-$main"; others TERM; )sh"
    R"sh(for pause in 0.02 0.1 0.2 0.3 0.38; do kill -0 "-$main" || others 0 || break; )sh"
    R"sh(sleep $pause || { sleep 1; break; }; done; )sh"
    R"sh(kill -KILL "-$main"; others KILL; fi; } 2>/dev/null; )sh"
    R"sh(echo "$mark"; echo "$mark" >&2; }; )sh"
    R"sh(exec 5<&0 6>&1 7>&2 </dev/null; )sh"
    R"sh({ if [ -w "$3/fd/1" ]; then )sh"
    R"sh({ { read -r self rest <"$3/stat"; watch "/proc/$self/fd/"; } 2>&8 <&5 | relay >&6 & } )sh"
    R"sh(8>&1 | relay >&7 & )sh"
    R"sh(else pipes=${TMPDIR:-/tmp}/$2; )sh"
    R"sh(mkdir -m 700 "$pipes" && mkfifo "$pipes/1" "$pipes/2" || exit; )sh"
    R"sh(relay <"$pipes/1" >&6 & relay <"$pipes/2" >&7 & )sh"
    R"sh(watch "$pipes/" <&5 >"$pipes/1" 2>"$pipes/2" & )sh"
    R"sh(fi; } 2>/dev/null)sh";

/// Arguments: helper, beginning of the mark, process_files, directory, login shell, command, rest
/// of the mark.
///
/// - Nothing is exported, and what is not does not outlive `exec`: the command sees nothing of
///   this.
/// - Where the directory is missing, the shell that sshd has started says so as it would have with
///   `limactl shell`.
constexpr std::string_view kScript =
    R"sh(limactl_mcp_word "$4"; limactl_mcp_directory=$limactl_mcp_word; )sh"
    R"sh(limactl_mcp_word "$5"; limactl_mcp_shell=${limactl_mcp_word:-$SHELL}; )sh"
    R"sh(limactl_mcp_word "$6"; )sh"
    R"sh(exec 3>&1; limactl_mcp_note=; )sh"
    R"sh(case $limactl_mcp_shell in /*) [ -x "$limactl_mcp_shell" ] || )sh"
    R"sh(limactl_mcp_note=" no-shell" ;; esac; )sh"
    R"sh(echo "${2#?}${7#?} $$$limactl_mcp_note"; )sh"
    R"sh(set -- "$(set -- /bin/sh -c "${1#?}" limactl-mcp $$ "${2#?}" "${3#?}" "${7#?}"; )sh"
    R"sh(command -v setsid >/dev/null 2>&1 && set -- setsid "$@"; )sh"
    R"sh(exec 4>&1 >&3 3>&-; exec "$@")"; )sh"
    R"sh(exec 3>&- </dev/null; )sh"
    R"sh(if [ -n "$1" ]; then exec >"$1"1 2>"$1"2; )sh"
    R"sh(case $1 in /proc/*) ;; *) rm -r "$1" ;; esac; fi; )sh"
    R"sh(cd "$limactl_mcp_directory" 2>/dev/null || { )sh"
    R"sh(case $SHELL in */bash) )sh"
    R"sh(exec "$SHELL" --norc -c "cd \"\$1\" || exit 1" bash "$limactl_mcp_directory" ;; esac; )sh"
    R"sh(cd "$limactl_mcp_directory" || exit 1; }; )sh"
    R"sh(exec "$limactl_mcp_shell" -l -c "$limactl_mcp_word")sh";

std::string CommandLine(const CommandScriptOptions& options, const AnyShellWord& command) {
  const std::size_t half = options.mark.size() / 2;
  return AnyShellLine(
      std::string(kWordDecoder) + std::string(kScript),
      {AnyShellWord(std::string(kSignalOthers) + std::string(kHelper)),
       AnyShellWord(options.mark.substr(0, half)), AnyShellWord(options.process_files),
       AnyShellWord(options.directory), AnyShellWord(options.shell), command,
       AnyShellWord(options.mark.substr(half))});
}

}  // namespace

guest::Command MakeCommandScript(const CommandScriptOptions& options) {
  guest::Command command;
  command.hold_standard_input_open = true;
  command.sink_knows_end = true;
  command.command_line = CommandLine(options, AnyShellWord(options.command));
  if (command.command_line.size() > guest::kMaximumCommandLine) {
    command.command_line =
        CommandLine(options, AnyShellWord::OnStandardInput(options.command.size()));
    command.standard_input = options.command;
  }
  return command;
}

// Where sleep takes whole seconds only, one of them counts for ten pauses.
std::string GroupEndScript(long process_group) {
  const std::string script =
      "main=" + std::to_string(process_group) + "; " + std::string(kSignalOthers) +
      "left() { others 0 && return 0; kill -0 \"-$main\" || return 1; found=$(ps -A -o pgid= -o "
      "stat=) || return 0;"
      " printf '%s\\n' \"$found\" | while read -r of state; do"
      " [ \"$of\" = \"$main\" ] || continue; case $state in Z*) ;; *) echo x; esac; done |"
      " grep -q x; }"
      "; tries=0; while left; do"
      " [ \"$tries\" -lt 30 ] || { kill -KILL \"-$main\"; others KILL; exit 1; }"
      "; sleep 0.1 || { sleep 1; tries=$((tries + 9)); }; tries=$((tries + 1)); done";
  return "exec /bin/sh -c " + ShellQuote(script) + " </dev/null >/dev/null 2>&1";
}

}  // namespace tools
