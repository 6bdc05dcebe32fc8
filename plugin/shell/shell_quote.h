#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Words for a POSIX shell in the guest. Pure functions; bytes above 127 are ordinary bytes.
namespace shell {

/// `word` as one word of a POSIX shell: as it is where it holds nothing but ASCII letters, digits
/// and `_@%+=:,./-`, else in single quotes (a single quote itself becomes `'"'"'`). An empty word
/// is `''`. The choice of what stays bare is that of `limactl shell`
/// (al.essio.dev/pkg/shellescape), so that a keyword such as `time` stays one. `word` must be free
/// of NUL, which no shell can carry.
std::string ShellQuote(std::string_view word);

/// The length of `NAME=` or `NAME+=` at the beginning of `argument`; 0 when there is none.
std::size_t AssignmentPrefix(std::string_view argument);

/// The command list as `limactl shell` hands it to the login shell (Lima's cmd/limactl/shell.go):
/// each argument quoted, separated by a space. Leading arguments of the form NAME=value stay
/// assignments: the name bare, the value quoted. Unlike there, what stands before the "=" must be a
/// name (`NAME` or `NAME+`), so that `$(id)=x` is a word and never runs.
std::string ShellCommand(const std::vector<std::string>& arguments);

}  // namespace shell
