// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "guest/guest.h"
#include "support/file_descriptor.h"

/// File requests of a guest to this machine's files, as OpenSSH's sftp-server does them
/// (sftp-server.c, sftp-realpath.c): link loops and ENOTDIR are kNotFound, a full disk is kFailure,
/// RealPath allows a missing last component. Throws guest::FileError.
namespace testing_support {

/// An open file, or the unread names of an open directory.
struct LocalFile {
  support::FileDescriptor descriptor;
  std::vector<guest::DirectoryEntry> names;
};

/// For Open and OpenDirectory. Opening a FIFO would block: throws as if the deadline had passed.
LocalFile OpenHere(const guest::Request& request);

/// For the other requests. `file` is that of the request's handle, if it has one.
guest::Reply ReplyHere(const guest::Request& request, LocalFile& file);

}  // namespace testing_support
