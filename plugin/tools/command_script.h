#pragma once

#include <cstddef>
#include <string>

#include "guest/guest.h"

/// What the guest's shell is given to run one command as `limactl shell` runs it, and to tell when
/// it has ended.
///
/// The shell that sshd starts becomes /bin/sh (any_shell.h) and that the command itself, by `exec`,
/// as with `limactl shell`: the command is the process that sshd waits for, so that sshd reports
/// how it ended (an exit status or a signal, never mixed up), and it leads the session and process
/// group that sshd made. Beside it, in a session of its own where the guest has setsid(1), stand
///
///   - two relays (tee) between the command's standard output and error and the channel's. When the
///     channel is closed they keep reading, so that a background child that prints lives on;
///   - a watcher that reads the channel's standard input. At its end there are two cases. The
///     command has ended: sshd closes a command's standard input then (OpenSSH's session.c,
///     session_exit_message). The watcher writes the mark into both relays, behind all that the
///     command wrote. Or the client is gone, wants the end, or the line broke: the watcher ends the
///     command's process group and the other ones of its session, TERM and within a second KILL,
///     and then writes the mark. What has made a session of its own (setsid, a daemon) lives on.
///
/// The relays' pipes are opened through /proc, by named pipes in a directory of $TMPDIR (/tmp)
/// where there is no /proc. Where neither works, the command writes to the channel itself and there
/// is no mark: the channel's end is then the end of the output.
///
/// What the login shell's own start-up files do (sshd's bash reads ~/.bashrc) happens before all
/// this, as with `limactl shell`; what they print comes before the first mark and is output.
namespace tools {

/// What Linux accepts as one argument, the closing NUL not counted (MAX_ARG_STRLEN, 32 pages).
inline constexpr std::size_t kMaximumShellCommand = std::size_t{128} * 1024 - 1;

struct CommandScriptOptions {
  std::string directory;  ///< in the guest
  std::string shell;      ///< run as login shell; empty: the guest's "$SHELL"
  std::string command;    ///< for the shell's -c; at most kMaximumShellCommand bytes, no NUL
  std::string mark;       ///< one word, see MakeMark

  /// Where the guest's kernel shows a process its own descriptors.
  std::string process_files = "/proc/self";
};

/// On standard output comes one line "MARK PID" with the process group of the command, or
/// "MARK PID no-shell" where the guest has no such shell; then its output, then the line "MARK". On
/// standard error its output, then the line "MARK".
guest::Command MakeCommandScript(const CommandScriptOptions& options);

/// A command line that waits up to three seconds for the end of a process group, and of the other
/// ones in the session that its leader leads. Exit status 0: no process of them is left; otherwise
/// what is left has been sent KILL once more. Zombies, which only wait for their parent, do not
/// count.
std::string GroupEndScript(long process_group);

}  // namespace tools
