#pragma once

#include <sys/stat.h>

#include <string>

#include "guest/guest.h"

/// This machine's files as OpenSSH's sftp-server reports them (sftp-server.c, sftp-realpath.c).
namespace testing_support {

/// Throws guest::FileError for an errno: link loops and ENOTDIR are kNotFound, a full disk is
/// kFailure.
[[noreturn]] void ThrowFileError(int error, const std::string& operation, const std::string& path);

guest::FileAttributes AttributesOf(const struct stat& status);

/// The target of a link. Throws guest::FileError.
std::string ReadLinkOf(const std::string& path);

/// As sftp_realpath: only the last component may be missing. Throws guest::FileError.
std::string ResolveAsServer(const std::string& path);

/// Throws guest::FileError with `path`.
void ChangeFile(int fd, const guest::AttributeChange& change, const std::string& path);

}  // namespace testing_support
