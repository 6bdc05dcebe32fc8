// SPDX-License-Identifier: Apache-2.0
#include "network/request.h"

// RFC 8446, 4.1.2 and 5.1; RFC 6066, 3.
namespace network {
namespace {

constexpr std::uint8_t kHandshake = 22;
constexpr std::uint8_t kClientHello = 1;
constexpr std::size_t kRecordHeader = 5;
constexpr std::size_t kMessageHeader = 4;

std::size_t Number(std::string_view bytes) {
  std::size_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<std::uint8_t>(byte);
  return number;
}

/// Reads from the front; once too little is left, everything is empty and `failed`.
struct Reader {
  std::string_view rest;
  bool failed = false;

  std::string_view Take(std::size_t size) {
    failed = failed || size > rest.size();
    const std::string_view taken = failed ? "" : rest.substr(0, size);
    rest.remove_prefix(failed ? rest.size() : size);
    return taken;
  }
  /// A vector after its length of so many bytes.
  std::string_view Vector(std::size_t length_bytes) { return Take(Number(Take(length_bytes))); }
};

/// Of the extension's data: exactly one name.
std::string OneName(std::string_view data) {
  Reader extension{data};
  Reader names{extension.Vector(2)};
  const bool is_host = names.Take(1) == std::string_view("\0", 1);
  const std::string_view name = names.Vector(2);
  const bool is_all = extension.rest.empty() && names.rest.empty();
  return is_host && is_all && !extension.failed && !names.failed ? std::string(name) : "";
}

std::string NameInHello(std::string_view message) {
  Reader hello{message};
  hello.Take(2 + 32);  // version, random
  hello.Vector(1);     // session
  hello.Vector(2);     // cipher suites
  hello.Vector(1);     // compression
  Reader extensions{hello.Vector(2)};
  if (hello.failed || !hello.rest.empty()) return "";
  std::string name;
  while (!extensions.rest.empty()) {
    const std::size_t type = Number(extensions.Take(2));
    const std::string_view data = extensions.Vector(2);
    if (extensions.failed) return "";
    if (type != 0) continue;
    if (!name.empty()) return "";
    name = OneName(data);
    if (name.empty()) return "";
  }
  return name;
}

}  // namespace

std::optional<std::string> ServerName(std::string_view bytes) {
  std::string message;
  while (true) {
    if (!bytes.empty() && bytes[0] != kHandshake) return "";
    if (bytes.size() < kRecordHeader) return std::nullopt;
    const std::size_t size = Number(bytes.substr(3, 2));
    if (bytes[1] != 3 || size == 0 || size > kMaxHello) return "";
    bytes.remove_prefix(kRecordHeader);
    if (bytes.size() < size) return std::nullopt;
    message += bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (message[0] != kClientHello) return "";
    if (message.size() < kMessageHeader) continue;
    const std::size_t length = Number(std::string_view(message).substr(1, 3));
    if (length > kMaxHello) return "";
    if (message.size() - kMessageHeader < length) continue;
    return NameInHello(std::string_view(message).substr(kMessageHeader, length));
  }
}

}  // namespace network
