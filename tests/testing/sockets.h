// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <filesystem>

#include "support/file_descriptor.h"

/// Sockets for fake servers and their clients, closed on exec. All throw std::system_error.
namespace testing_support {

/// Of a family (AF_INET) and a type (SOCK_STREAM).
support::FileDescriptor MakeSocket(int family, int type);

/// An address of the internet, such as "127.0.0.1".
sockaddr_in InternetAddress(const char* address, std::uint16_t port);

/// Listens on a free port of the loopback.
support::FileDescriptor ListenOnLoopback(std::uint16_t& port);

support::FileDescriptor ConnectToLoopback(std::uint16_t port);

/// Listens on a new Unix socket, with room for one connection that is not accepted.
support::FileDescriptor ListenOnUnix(const std::filesystem::path& path);

}  // namespace testing_support
