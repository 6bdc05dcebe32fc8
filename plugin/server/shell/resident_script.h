// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "shell/request.h"

/// The scripts of a resident shell, which are made of programs/. The exec request is kCommandLine,
/// which is the same for every login shell. The rest goes to its standard input: first one of the
/// scripts below, then the requests. Requests must wait for "ready", because /bin/sh may read
/// ahead.
///
///   sh (started by sshd) ─┬─ watcher: passes requests on to the loop. When its input ends, stops
///                         │  everything in the session: TERM, a second later KILL.
///                         └─ sh ── loop: /bin/sh, or the user's bash after its profile.
///                                    └─ a subshell for each request, input from /dev/null
///
/// Reports are lines that begin with the end marker `marker`:
///   ready    the loop waits for requests; the line "MARKER" ends the profile's standard error
///   N        the request has ended with this status; the line "MARKER" ends its standard error
///   free     after N: nothing of the request is left, the loop waits for the next
///   left     after N: background processes may be left. Loop and watcher have exited
///   ended N  the loop has exited with N:
///            0           every request that it ran has been reported; the next goes to another
///            1 to 125    the session has been stopped
///            126, above  so too: the loop was killed, or could not be started
///   began    a new login shell has read its profile, and runs the command
///   stopped  the watcher has stopped all that it can
///
/// A request runs in a subshell of the loop, so it changes nothing for the next one. A program
/// replaces the subshell by `exec`: one fork for each command. Only KILL ends the loop.
///
/// A command is the youngest process when bash starts it: /proc/loadavg, which has the id of the
/// youngest one, shows without a fork how many have been started since. Those ids are searched for
/// processes of the session, whatever their group, and for those that hold its output.
///
/// The intended differences from `limactl shell`, which starts a login shell in the directory:
///   - the profile runs in the home directory, which it may change, and its output is dropped;
///   - GIT_EDITOR is "true" unless the profile sets it: there is no terminal for an editor;
///   - the profile is read again only when one of bash's own start-up files has changed;
///   - $$ (the loop's), $!, $_, $?, $PPID, SHLVL, SECONDS, BASH_SUBSHELL, BASHPID, LINENO, FUNCNAME
///     and the table of hashed programs;
///   - a first word with "-" is a command, no option of the shell;
///   - a syntax error names `eval`; an unset variable under `set -u` is exit status 1;
///   - ~/.bash_logout is not run; death by signal N is exit status 128+N.
namespace shell {

inline constexpr std::string_view kCommandLine = "exec /bin/sh";

/// The least exit status of a shell that cannot be run, is missing, or was killed.
inline constexpr int kCannotRun = 126;

/// A new end marker, which no command or profile prints by accident.
std::string MakeEndMarker();

/// What to send first: starts one of the programs below.
std::string Bootstrap(const std::string& marker, const std::string& program);

/// A loop of /bin/sh. `for_one`: it runs one request, and reports "left" after it. Otherwise the
/// requests must leave no background processes.
std::string ScriptProgram(bool for_one);

/// A loop of bash 4 or later, as login shell. It exits below status 126 without "ready" if it is
/// another shell, if there is no /proc, or if the profile is unfit: it exits, changes the output,
/// or changes what the loop relies on. `shell`: empty for "$SHELL".
std::string LoginProgram(const std::string& shell);

/// `shell` as a word for /bin/sh; empty: "$SHELL".
std::string ShellWord(const std::string& shell);

/// Whether LoginProgram may succeed.
bool MayBeBash(std::string_view shell);

struct LoginCommand {
  std::string text;        ///< for the shell's -c: see ShellCommand
  std::string first_word;  ///< if it is one simple command without redirections, its name
  std::string directory;
  std::string shell;  ///< the user's login shell; empty: "$SHELL"
};

/// A request to ScriptProgram or LoginProgram.
struct ShellRequest {
  std::string text;
  /// To send before it: the directory, or functions. The loop reads byte by byte, and keeps it: not
  /// sent again while it stays the same.
  std::string kept;
  bool has_profile = false;  ///< see PlainLogin
};

// The text must not contain NUL.
ShellRequest ScriptRequest(const Script& script);
ShellRequest CommandRequest(const LoginCommand& command);

/// A script that runs the command in a new login shell, as `limactl shell` does, and reports
/// "began" before. For a ScriptProgram for one request.
std::string PlainLogin(const LoginCommand& command);

/// Says that the login shell did not get to the command, and where to look.
std::string DescribeProfileFailure(const std::string& shell, std::string_view what);

/// One command in a new login shell, as PlainLogin runs it, in place of the loop. Its standard
/// input is a pipe, its standard error goes to its standard output. It ends with all that it has
/// started: what is left in its session gets a second, then TERM, a second later KILL. Reports,
/// besides those above:
///   began      the watcher takes requests; all output before belongs to a profile
///   took       the input of the last InputRequest has been written to the pipe
///   ended N    the command has ended with this status
std::string ProcessProgram(const LoginCommand& command);

// Requests to the watcher of a ProcessProgram.

/// Bytes for the command's standard input. The next one must wait for "took".
std::string InputRequest(std::string_view bytes);

/// Ends the command's standard input.
inline constexpr std::string_view kEndInputRequest = "e\n";

/// Signals everything that the command has started. `name` is without "SIG".
std::string SignalRequest(std::string_view name);

/// Separates the output of a command from the reports of its resident shell, wherever the stream is
/// cut into pieces. Holds back only bytes that may belong to a report. One thread at a time.
class ReportSplitter {
 public:
  using Callback = std::function<void(std::string_view)>;

  explicit ReportSplitter(std::string marker) : marker_(std::move(marker)) {}

  /// Calls `on_output`, and `on_report` with the words behind the marker, in order.
  void Feed(std::string_view bytes, const Callback& on_output, const Callback& on_report);

  /// The stream has ended: what was held back is output.
  void Finish(const Callback& on_output);

 private:
  /// Returns the rest that depends on later bytes.
  std::string_view Split(std::string_view bytes, const Callback& on_output,
                         const Callback& on_report);

  std::string marker_;
  std::string held_;
};

}  // namespace shell
