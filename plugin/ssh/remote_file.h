#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "ssh/session_loop.h"

namespace ssh {

/// Carries one request out and returns what the guest said: never a failure, a status only if it
/// is kOk. `extension` is what the server must offer for it (see AskOperation), `handle` that of
/// the file it is about, null where it is about none. Throws guest::FileError,
/// support::ConnectionLost, support::Stopped. Any thread.
SftpReply Ask(SessionLoop& loop, const SftpSubject& subject, SftpRequest request,
              const support::Context& context, std::string_view extension = {},
              const RemoteHandle* handle = nullptr);

/// Opens a file on the loop's SFTP channel; the file keeps the loop. Throws as Ask does. Any
/// thread.
std::unique_ptr<guest::OpenFile> OpenRemoteFile(const std::shared_ptr<SessionLoop>& loop,
                                                const std::string& path, guest::OpenMode mode,
                                                std::uint32_t permissions,
                                                const support::Context& context);

}  // namespace ssh
