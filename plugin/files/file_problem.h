#pragma once

#include <cstdint>
#include <string>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"
#include "support/errors.h"

namespace files {

/// `file does not exist` or `permission denied`: the texts that Lima's own tests expect name no
/// path.
class PathlessError : public support::CallError {
 public:
  using support::CallError::CallError;
};

/// Throws support::CallError unless the path is a regular file: `file does not exist`, or a message
/// with what it is instead.
void RequireRegularFile(const paths::ResolvedPath& path);

/// Throws support::CallError, with what to do, unless the path is a directory.
void RequireDirectory(const paths::ResolvedPath& path);

/// Throws support::CallError for a failure of the guest: `file does not exist`, `permission
/// denied`, or "`action` PATH: …" with the host path. If the failure has no code, takes one round
/// trip to check whether the file system is read-only or lacks room for `needed_bytes`. Never
/// throws support::ConnectionLost or support::Stopped instead. `path` is empty if
/// PathRules::Resolve failed.
[[noreturn]] void ThrowFileProblem(const guest::FileError& error, const std::string& action,
                                   const paths::ResolvedPath& path, std::uint64_t needed_bytes,
                                   guest::Guest& guest, const support::Context& context);

}  // namespace files
