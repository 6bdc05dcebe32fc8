// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace network {

/// Bytes of TLS in which the ClientHello must be complete.
inline constexpr std::size_t kMaxHello = std::size_t{16} * 1024;

/// The one server name (SNI) of the TLS ClientHello with which `bytes` begin. Empty if it is not
/// TLS, not valid, or has no name or several; nullopt while more bytes are needed.
std::optional<std::string> ServerName(std::string_view bytes);

}  // namespace network
