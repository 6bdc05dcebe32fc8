// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace network {

inline constexpr std::size_t kMaxHead = std::size_t{16} * 1024;

/// What a client of the proxy has sent, up to the first empty line. Only its first line counts.
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

}  // namespace network
