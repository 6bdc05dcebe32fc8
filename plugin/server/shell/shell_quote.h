// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Words for a POSIX shell. Bytes above 127 are ordinary bytes.
namespace shell {

/// `word` as one word of a POSIX shell: unchanged if it has only ASCII letters, digits and
/// `_@%+=:,./-`, else in single quotes (a single quote becomes `'"'"'`). An empty word is `''`. The
/// same rule as `limactl shell` (al.essio.dev/pkg/shellescape), so a keyword such as `time` stays
/// one. `word` must not contain NUL.
std::string ShellQuote(std::string_view word);

/// The command list as `limactl shell` passes it to the login shell (Lima's cmd/limactl/shell.go):
/// quoted arguments, separated by spaces. Leading arguments NAME=value stay assignments with a
/// quoted value. Unlike there, NAME must be a name (or `NAME+`), so that `$(id)=x` never runs.
std::string ShellCommand(const std::vector<std::string>& arguments);

}  // namespace shell
