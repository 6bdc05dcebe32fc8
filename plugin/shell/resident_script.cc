#include "shell/resident_script.h"

#include <algorithm>

#include "shell/shell_quote.h"
#include "support/random.h"

namespace shell {
namespace {

/// Replaces the names in `text`, but not in their values.
std::string Fill(std::string_view text,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string filled;
  while (!text.empty()) {
    const auto* const found = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return text.starts_with(value.first);
    });
    filled += found == values.end() ? text.substr(0, 1) : found->second;
    text.remove_prefix(found == values.end() ? 1 : found->first.size());
  }
  return filled;
}

/// Descriptors: 3 the channel's input, 4 its output, 8 its error, 9 the requests. One compound
/// command, so that sh has read all of it before it runs any.
///
/// - Signals such as TERM are caught, not ignored: the command would inherit ignored ones. Only the
///   watcher ignores them.
/// - USR1 ends the watcher unless it has begun to stop everything.
/// - kill_others signals the session's other processes, also those in groups of their own. As kill,
///   it fails if there are none. grep preselects: `read` needs a system call for each byte. With an
///   empty second argument it needs no fork.
/// - Fields of /proc/PID/stat behind the name: state, parent, group, session.
/// - `kill -TERM PID` without "--": dash and BusyBox do not support it.
/// - A shell that cannot fork exits and runs its EXIT trap.
/// - The pauses add up to one second, also if sleep supports only whole seconds.
/// - The loop's status is 126 or above if it was not started or was killed. A killed loop leaves
/// its
///   command running, so the rest of the session is stopped.
constexpr std::string_view kFrame = R"sh({ exec 3<&0 4>&1 8>&2 </dev/null 2>/dev/null
trap : HUP INT QUIT TERM
spared=-
kill_others() { result=1
stats=${2-$(grep -l " $$ " /proc/[0-9]*/stat)}
for stat in ${stats:-/proc/[0-9]*/stat}; do
read -r line <"$stat" || continue
pid=${stat#/proc/}
set -- "$1" "${pid%/stat}" ${line##*") "}
case $2/$3/$6/$4 in "$watcher"/* | $$/* | */[ZX]/* | */$spared) ;; */$$/*) kill "-$1" "$2"; result=0 ;; esac
done
return $result; }
stop() { [ -r /proc/self/stat ] || { kill -TERM 0; sleep 1; kill -KILL 0; }
trap 'kill_others KILL ""; kill -KILL 0' EXIT
for signal in "$@"; do
kill_others "$signal"
for pause in 0.02 0.1 0.2 0.3 0.38; do
kill_others 0 || { trap - EXIT; return 0; }
sleep "$pause" || { sleep 1; break; }
done
done
trap - EXIT
return 1; }
{ trap '' HUP INT QUIT TERM PIPE
read -r watcher rest </proc/self/stat || watcher=$(exec /bin/sh -c 'echo $PPID')
echo "$watcher" || exit
@INPUT@
trap '' USR1
exec >&4
stop TERM KILL && echo "@MARKER@ stopped"
echo "@MARKER@" >&8
} <&3 | { trap : HUP INT QUIT TERM
read -r watcher
exec 3<&- 4>&- 9<&0 </dev/null
end() { kill -USR1 "$watcher"
echo "@MARKER@ ended $status"
echo "@MARKER@" >&8; }
stop_rest() { [ "$status" = 0 ] || { spared=$$; stop TERM KILL; }; }
trap end EXIT
status=126
@START@
trap - EXIT
end
}
exit; }
)sh";

constexpr std::string_view kPassRequests =
    R"sh(while IFS= read -r line; do printf '%s\n' "$line" || break; done)sh";

/// To a process. The watcher itself must never block, or it would miss the end of its input.
constexpr std::string_view kObeyProcessRequests = R"sh(writer=; spared=$$
while IFS= read -r line; do case $line in
"i "*) [ -z "$writer" ] || wait "$writer"
{ printf %b "${line#i }"; echo "@MARKER@ took" >&4; } &
writer=$! ;;
e) exec >/dev/null ;;
"k "*) if [ -r /proc/self/stat ]; then kill_others "${line#k }"; else kill "-${line#k }" 0; fi ;;
esac; done
spared=-)sh";

/// What the process leaves gets a second to end by itself: it may still be writing output.
constexpr std::string_view kStartProcess = R"sh(echo "@MARKER@ ready"
(exec 2>&1 <&9 8>&- 9<&-
@LOGIN@)
status=$?
exec 9<&-
[ -r /proc/self/stat ] && { spared=$$; stop 0 TERM KILL; })sh";

constexpr std::string_view kStartScript = R"sh(( _lm_marker=@MARKER@ _lm_watcher=$watcher
@LOOP@
)
status=$?
stop_rest)sh";

/// 7 shows the loop whether the profile has redirected its output. 6 brings the marker past the
/// profile; its modification time is the start of the shell.
constexpr std::string_view kStartLogin = R"sh(cd @DIRECTORY@ && case @SHELL@ in
bash | */bash) (exec @SHELL@ -l -c @LOOP@ 7>&1 2>&8 6<<END
@MARKER@ $watcher
END
)
status=$? ;;
*) status=1 ;; esac
stop_rest)sh";

// The loop is one line, because bash counts the lines of a request from there. kForget unsets all
// its variables before the request.
constexpr std::string_view kForget =
    "unset -v _lm_marker _lm_watcher _lm_count _lm_word _lm_code _lm_line _lm_exec _lm_job "
    "_lm_status _lm_left _lm_file _lm_seen _lm_now; ";

/// The positional parameters are the profile's files.
constexpr std::string_view kFitLoop =
    R"sh(if IFS=" " read -r _lm_marker _lm_watcher <&6 && )sh"
    R"sh([ "${BASH_VERSINFO:-0}" -ge 4 ] && [ -r /proc/self/stat ] && )sh"
    R"sh(case $- in *[aefkmntuvxET]*) false ;; esac && )sh"
    R"sh(! shopt -q expand_aliases && ! shopt -q extdebug && ! shopt -q nocasematch && )sh"
    R"sh([ -z "$(trap -p EXIT DEBUG ERR RETURN HUP INT TERM; )sh"
    R"sh(declare -F [ break case cd command declare echo eval exec grep hash kill read )sh"
    R"sh(set shopt sleep trap unset wait)" ] && )sh"
    R"sh([ @DIRECTORY@ -ef . ] && [ /dev/fd/1 -ef /dev/fd/7 ] && [ /dev/fd/2 -ef /dev/fd/8 ] && )sh"
    R"sh(exec 7>&- 2>/dev/null && _lm_seen= && )sh"
    R"sh(set -- /etc/profile /etc/profile.d /etc/profile.d/*.sh /etc/bash.bashrc /etc/bashrc )sh"
    R"sh(~/.bash_profile ~/.bash_login ~/.profile ~/.bashrc && )sh"
    R"sh(for _lm_file do [ -e "$_lm_file" ]; _lm_seen=$_lm_seen$?; done; then @LOOP@; else (exit 1); fi)sh";

/// A file of the profile is newer than the start, was created or was removed.
constexpr std::string_view kStale =
    R"sh(_lm_now=; for _lm_file do if [[ -e $_lm_file ]]; then _lm_now+=0; )sh"
    R"sh([[ $_lm_file -nt /dev/fd/6 ]] && exit 0; else _lm_now+=1; fi; done; )sh"
    R"sh([[ $_lm_now = "$_lm_seen" ]] || exit 0; )sh";

/// `hash` finds the word only if it is a program, not a builtin: bash need not wait for it.
constexpr std::string_view kChooseExec =
    R"sh(_lm_exec=; [ -z "$_lm_word" ] || { hash -d -- "$_lm_word"; hash -- "$_lm_word" && )sh"
    R"sh([ -n "${BASH_CMDS[$_lm_word]}" ] && _lm_exec=1; }; )sh";

constexpr std::string_view kEnterDirectory =
    R"sh({ [ @DIRECTORY@ -ef . ] && [ -x . ]; } || command cd @DIRECTORY@ || exit 1; )sh";

/// A command opens the pipes again, so that O_NONBLOCK ends with it; not if they belong to another
/// user, as with a ForceCommand that changes the user.
constexpr std::string_view kLoop =
    R"sh(trap : HUP INT TERM; _lm_left=; echo "$_lm_marker ready"; )sh"
    R"sh(while IFS=" " read -r _lm_count _lm_word <&9 && IFS= read -r _lm_code <&9; do )sh"
    R"sh(while [ "$_lm_count" -gt 1 ]; do IFS= read -r _lm_line <&9 || exit 0; )sh"
    R"sh(_lm_code=$_lm_code@NEWLINE@$_lm_line; _lm_count=$((_lm_count - 1)); done; )sh"
    R"sh(@BEFORE@)sh"
    R"sh(( trap - HUP INT TERM; exec 2>&8 6<&- 8>&- 9<&-; )sh"
    R"sh([ -p /dev/fd/1 ] && [ -w /dev/fd/1 ] && exec >/proc/self/fd/1; )sh"
    R"sh([ -p /dev/fd/2 ] && [ -w /dev/fd/2 ] && exec 2>/proc/self/fd/2; )sh"
    R"sh(set --; BASH_EXECUTION_STRING=$_lm_code; @ENTER@)sh"
    R"sh(case $_lm_exec in 1) @FORGET@eval "exec -- $BASH_EXECUTION_STRING" ;; )sh"
    R"sh(*) @FORGET@eval "$BASH_EXECUTION_STRING" ;; esac ) @AFTER@)sh"
    R"sh([ -z "$_lm_left" ] || kill -USR1 "$_lm_watcher"; )sh"
    R"sh(echo "$_lm_marker $_lm_left$_lm_status"; echo "$_lm_marker" >&8; )sh"
    R"sh([ -z "$_lm_left" ] || break; done; exit 0)sh";

/// Without job control, `wait` does not end with a stopped job, but with a caught signal. What is
/// about to exit gets a moment. grep exits with 1 or 2 if only zombies are left, for init to reap.
constexpr std::string_view kAfterJob =
    R"sh(& set +m; _lm_job=$!; )sh"
    R"sh(until wait "$_lm_job"; _lm_status=$?; ! kill -0 "$_lm_job"; do :; done; )sh"
    R"sh(if kill -0 -- "-$_lm_job"; then sleep 0.05; )sh"
    R"sh(grep -qs ") [^ZX] [0-9]* $_lm_job " /proc/[0-9]*/stat; case $? in [12]) ;; )sh"
    R"sh(*) _lm_left="left " ;; esac; fi; )sh";

/// `exec` runs it as the shell would: no assignment, path or quotes. `time` is the reserved word
/// that is also a program.
bool MayBeExecuted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos &&
         word.find_first_of("-+.") != 0 && word != "time";
}

std::string ShellWord(const std::string& shell) {
  return shell.empty() ? "\"$SHELL\"" : ShellQuote(shell);
}

std::string Frame(const std::string& marker, std::string_view input, std::string_view start) {
  return Fill(kFrame, {{"@MARKER@", marker}, {"@INPUT@", input}, {"@START@", start}});
}

}  // namespace

std::string MakeEndMarker() {
  constexpr std::size_t kDigits = 32;
  return "limactl-mcp-" + support::RandomHex(kDigits);
}

std::string ScriptShell(const std::string& marker, Requests requests) {
  const std::string_view left = requests == Requests::kOne ? "'left '" : "";
  const std::string loop =
      Fill(kLoop, {{"@NEWLINE@", "'\n'"},
                   {"@BEFORE@", ""},
                   {"@ENTER@", ""},
                   {"@FORGET@", kForget},
                   {"@AFTER@", "; _lm_status=$? _lm_left=" + std::string(left) + "; "}});
  return Frame(marker, kPassRequests, Fill(kStartScript, {{"@MARKER@", marker}, {"@LOOP@", loop}}));
}

std::string LoginShell(const std::string& marker, const std::string& directory,
                       const std::string& shell) {
  const std::string quoted_directory = ShellQuote(directory);
  const std::string loop = Fill(
      kLoop, {{"@NEWLINE@", "$'\\n'"},
              {"@BEFORE@", std::string(kStale) + std::string(kChooseExec) + "set -m; "},
              {"@ENTER@", "set +m; " + Fill(kEnterDirectory, {{"@DIRECTORY@", quoted_directory}})},
              {"@FORGET@", kForget},
              {"@AFTER@", kAfterJob}});
  const std::string login = Fill(kFitLoop, {{"@DIRECTORY@", quoted_directory}, {"@LOOP@", loop}});
  const std::string start = Fill(kStartLogin, {{"@MARKER@", marker},
                                               {"@SHELL@", ShellWord(shell)},
                                               {"@LOOP@", ShellQuote(login)},
                                               {"@DIRECTORY@", quoted_directory}});
  return Frame(marker, kPassRequests, start);
}

std::string ProcessShell(const std::string& marker, const LoginCommand& command) {
  return Frame(marker, Fill(kObeyProcessRequests, {{"@MARKER@", marker}}),
               Fill(kStartProcess, {{"@MARKER@", marker}, {"@LOGIN@", PlainLogin(command)}}));
}

std::string InputRequest(std::string_view bytes) {
  std::string request = "i ";
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0x20 && value < 0x7F && byte != '\\') {
      request += byte;
      continue;
    }
    request += "\\0";
    for (const unsigned shift : {6U, 3U, 0U})
      request += static_cast<char>('0' + (value >> shift & 7U));
  }
  return request + '\n';
}

std::string SignalRequest(std::string_view name) {
  return "k " + std::string(name) + '\n';
}

bool MayBeBash(std::string_view shell) {
  return shell.empty() || shell == "bash" || shell.ends_with("/bash");
}

std::string Request(std::string_view code, std::string_view first_word) {
  std::string request = std::to_string(1 + std::count(code.begin(), code.end(), '\n'));
  if (MayBeExecuted(first_word)) {
    request += ' ';
    request += first_word;
  }
  request += '\n';
  request += code;
  request += '\n';
  return request;
}

std::string PlainLogin(const LoginCommand& command) {
  const std::string enter = "cd " + ShellQuote(command.directory);
  return enter + " 2>/dev/null || exec \"$SHELL\" -c " + ShellQuote(enter + " || exit 1") +
         "\nexec " + ShellWord(command.shell) + " -l -c " + ShellQuote(command.text);
}

}  // namespace shell
