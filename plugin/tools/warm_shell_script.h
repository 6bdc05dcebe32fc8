#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"

/// What the guest's shell is given to start a login shell ahead of its command, and what that shell
/// is told later, so that the command cannot tell the difference from the way of command_script.h.
///
/// As there, the shell that sshd starts becomes the login shell by `exec`, and beside it stand two
/// relays and a watcher. The login shell (bash) runs the user's profile, opens a pipe from the
/// watcher through /proc, looks whether it is fit, says so, and waits on the pipe for one line. The
/// watcher reads two lines from the channel's standard input and passes them on: the mark at once,
/// the line of WarmShellInput later. From then on it waits for the end of standard input, as in
/// command_script.h, with the same consequences; a client that is gone ends a waiting shell too.
///
/// The line is evaluated by the login shell itself: the command is a child of no other process, has
/// its process id, session, process group, and ends as the process that sshd waits for. A program
/// is started by `exec`, as bash does by itself for the single command of `-c`. What bash shows of
/// itself to a builtin ($?, $_, BASH_EXECUTION_STRING, SECONDS) is what it would be.
///
/// Not fit, so that the command runs the other way: another shell than bash 4.4 or later, no /proc,
/// a profile that changes the directory, sets options or traps, expands aliases or replaces the
/// builtins used here, or does not come to its end.
namespace tools {

struct WarmShellOptions {
  std::string directory;  ///< in the guest
  std::string shell;      ///< see MayBeBash
  std::string mark;       ///< one word, see MakeMark
};

/// Whether the guest's login shell by this name may be kept warm. Empty is "$SHELL", for the guest
/// to find out.
bool MayBeBash(std::string_view shell);

/// On standard output come what the profile prints, one line "MARK PID" when the shell is ready,
/// then as in MakeCommandScript. Where the shell is not fit the channel ends instead.
guest::Command MakeWarmShellScript(const WarmShellOptions& options);

/// The longest line for a waiting shell: it is read byte by byte, and beyond this a new shell is
/// faster.
inline constexpr std::size_t kLongestWarmShellInput = std::size_t{8} * 1024;

/// The line that runs `words` in a waiting shell. Where the directory is not the same any more, the
/// shell runs nothing and prints `refusal` on standard output. Nothing for commands that need a
/// new shell: one that begins with a reserved word, assigns a variable that bash itself heeds, or
/// makes a line that is too long.
std::optional<std::string> WarmShellInput(const std::vector<std::string>& words,
                                          const std::string& directory, const std::string& refusal);

}  // namespace tools
