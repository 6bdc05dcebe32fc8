// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"
#include "support/errors.h"

namespace files {

/// `file does not exist` or `permission denied`: the texts that Lima's own tests expect name no
/// path.
class PathlessError : public support::Error {
 public:
  using support::Error::Error;
};

/// The same for all texts that are easily taken for `text`, on as many lines: with one kind of
/// blanks, quotes and dashes, without what is invisible, in lower case, and with one letter for all
/// of a script that have accents.
std::string LooksOf(std::string_view text);

/// For a path that is missing: throws support::Error that begins with `problem`, and has the
/// path of an existing name that looks like the first missing one, if there is one. Says how to
/// reach it if it is not UTF-8. Takes two round trips.
void ProposeLookAlike(const std::string& problem, const paths::ResolvedPath& path,
                      guest::Guest& guest, const support::Context& context);

/// Throws support::Error unless the path is a regular file: `file does not exist`, or a message
/// with what it is instead. If it is missing, looks for a name that looks like it.
void RequireRegularFile(const paths::ResolvedPath& path, guest::Guest& guest,
                        const support::Context& context);

/// Throws support::Error, with what to do, unless the path is a directory. Looks as above.
void RequireDirectory(const paths::ResolvedPath& path, guest::Guest& guest,
                      const support::Context& context);

/// The first bytes of a file, which tell its encoding.
inline constexpr std::size_t kEncodingBytes = 16;

/// Throws support::Error, with what to do, if a file that begins with `bytes` is UTF-16 or
/// UTF-32, as far as a byte order mark or ASCII shows it: the tools would add UTF-8.
void RefuseWideText(std::string_view bytes, const paths::ResolvedPath& path);

/// Throws support::Error for a failure of the guest: `file does not exist`, `permission
/// denied`, or "`action` PATH: …" with the host path. If the failure has no code, takes one round
/// trip to check whether the file system is read-only or lacks room for `needed_bytes`. Never
/// throws support::ConnectionLost or support::Stopped instead. `path` is empty if
/// PathRules::Resolve failed.
[[noreturn]] void ThrowFileProblem(const guest::FileError& error, const std::string& action,
                                   const paths::ResolvedPath& path, std::uint64_t needed_bytes,
                                   guest::Guest& guest, const support::Context& context);

}  // namespace files
