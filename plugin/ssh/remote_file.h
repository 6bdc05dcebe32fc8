#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "guest/guest.h"
#include "ssh/session_loop.h"

namespace ssh {

/// Carries one request out and returns what the guest said: never a failure, a status only if it
/// is kOk. Throws guest::FileError, support::ConnectionLost, support::Stopped. Any thread.
SftpReply Ask(SessionLoop& loop, const SftpSubject& subject, SftpRequest request,
              const support::Context& context, std::string_view extension = {},
              const RemoteHandle* handle = nullptr);

/// Throws guest::FileError: the server's answer is none to what it was asked.
[[noreturn]] void ThrowWrongKind(const SftpSubject& subject);

/// The reply as the kind that the request asks for; throws guest::FileError where the server gave
/// another.
template <typename Kind>
Kind Expect(SftpReply&& reply, const SftpSubject& subject) {
  if (auto* kind = std::get_if<Kind>(&reply)) return std::move(*kind);
  ThrowWrongKind(subject);
}

/// Opens a file on the loop's SFTP channel.
std::unique_ptr<guest::OpenFile> OpenRemoteFile(const std::shared_ptr<SessionLoop>& loop,
                                                const std::string& path, guest::OpenMode mode,
                                                std::uint32_t permissions,
                                                const support::Context& context);

}  // namespace ssh
