#pragma once

#include <memory>
#include <string>

#include "guest/guest.h"
#include "ssh/session_loop.h"

namespace ssh {

/// Carries one request out and returns what the guest said: never a failure, a status only if it
/// is kOk. Throws guest::FileError, support::ConnectionLost, support::Stopped. Any thread.
SftpReply Ask(SessionLoop& loop, const SftpSubject& subject, SftpRequest request,
              const support::Context& context, std::string_view extension = {},
              const RemoteHandle* handle = nullptr);

/// The reply as the kind that the request asks for; throws guest::FileError where the server gave
/// another.
template <typename Kind>
Kind Expect(SftpReply&& reply, const SftpSubject& subject) {
  if (auto* kind = std::get_if<Kind>(&reply)) return std::move(*kind);
  std::rethrow_exception(FailureOf(subject, SftpHandle{}));
}

/// Opens a file on the loop's SFTP channel.
std::unique_ptr<guest::OpenFile> OpenRemoteFile(const std::shared_ptr<SessionLoop>& loop,
                                                const std::string& path, guest::OpenMode mode,
                                                std::uint32_t permissions,
                                                const support::Context& context);

}  // namespace ssh
