#pragma once

#include <string>
#include <string_view>

/// What a resident shell in the guest is made of. The exec request is kCommandLine, which every
/// login shell reads alike. The rest arrives on its standard input: first one of the texts below,
/// later the requests. No request may be sent before the shell has reported "ready", because
/// /bin/sh may read ahead.
///
///   sh (what sshd started) ─┬─ watcher: passes requests on to the loop. When its input ends, stops
///                           │  everything in the session: TERM, a second later KILL.
///                           └─ sh ── loop: /bin/sh, or the user's bash after its profile.
///                                      └─ a subshell for each request, input from /dev/null
///
/// Reports are lines that begin with the end marker `mark`:
///   ready      the loop waits for requests
///   STATUS     the request has ended; the line "MARK" ends its standard error
///   idle       after STATUS: nothing of the request is left, the loop waits for the next
///   left       after STATUS: background processes are left. The loop has exited, and nobody
///              watches them any more
///   stale      instead of STATUS: a file of the profile has changed. Nothing was run
///   no-dir     instead of ready: the directory is missing
///   ended N    the loop has exited with this status, for whatever reason
///   stopped    the watcher has stopped everything; "stuck": something survived KILL
///
/// A request runs in a subshell of the loop, so it changes nothing for the next one, and a program
/// takes its place by `exec`: one fork for each command. With `limactl shell` a login shell would
/// run it. The differences, on purpose:
///   - what the profile prints is dropped;
///   - the profile is read again only when one of bash's own start-up files has changed;
///   - $$ (the loop's), $_, $?, $PPID, SHLVL, SECONDS, BASH_SUBSHELL, BASHPID, LINENO, FUNCNAME,
///   and
///     the table of hashed programs;
///   - a syntax error names `eval`; an unset variable under `set -u` is exit status 1;
///   - ~/.bash_logout is not run; death by signal N is exit status 128+N.
namespace shell {

inline constexpr std::string_view kCommandLine = "exec /bin/sh";

/// A loop of /bin/sh.
std::string ScriptShell(const std::string& mark);

/// A loop of bash 4 or later, as login shell, in `directory`. It ends without "ready" if it is
/// another shell, or if the profile exits, leaves the directory, moves its output, or changes what
/// the loop relies on. `shell`: empty for "$SHELL".
std::string LoginShell(const std::string& mark, const std::string& directory,
                       const std::string& shell);

/// Whether LoginShell may succeed.
bool MayBeBash(std::string_view shell);

/// The request to run `code`, which is free of NUL. `first_word`: the command's name if the code is
/// one simple command without redirections.
std::string Request(std::string_view code, std::string_view first_word = {});

struct LoginCommand {
  std::string text;        ///< for the shell's -c, such as ShellCommand makes
  std::string first_word;  ///< see Request
  std::string directory;
  std::string shell;  ///< the user's login shell; empty: "$SHELL"
};

/// Code for ScriptShell that runs the command in a login shell of its own, as `limactl shell` does.
std::string PlainLogin(const LoginCommand& command);

}  // namespace shell
