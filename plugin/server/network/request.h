// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// What a client of the proxy sends first. Both parsers are total: any bytes may come.
namespace network {

inline constexpr std::size_t kMaxHead = std::size_t{16} * 1024;

/// Up to the first empty line. Only the first line counts.
struct Head {
  enum class Kind {
    kIncomplete,
    kConnect,    ///< `CONNECT TARGET HTTP/1.0` or `1.1`
    kPlainHttp,  ///< a request for http://…
    kOther,      ///< anything else, or longer than kMaxHead; known as early as possible
  };
  Kind kind = Kind::kIncomplete;
  std::string target = {};  ///< of kConnect as it is; of kPlainHttp HOST:PORT: any bytes
  std::size_t size = 0;     ///< of kConnect, with the empty line
};

Head ParseHead(std::string_view bytes);

/// Bytes of TLS in which the ClientHello must be complete.
inline constexpr std::size_t kMaxHello = std::size_t{16} * 1024;

/// The one server name (SNI) of the TLS ClientHello with which `bytes` begin. Empty if it is not
/// TLS, not valid, or has no name or several; nullopt while more bytes are needed.
std::optional<std::string> ServerName(std::string_view bytes);

}  // namespace network
