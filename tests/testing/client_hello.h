// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// The first message of a TLS client (RFC 8446, 4.1.2).
namespace testing_support {

/// `content` after its length of so many bytes.
inline std::string TlsVector(int length_bytes, std::string_view content) {
  std::string vector;
  for (int i = length_bytes - 1; i >= 0; --i)
    vector += static_cast<char>(content.size() >> (8U * static_cast<unsigned>(i)) & 0xFFU);
  return vector.append(content);
}

inline std::string TlsExtension(char type, std::string_view data) {
  return std::string(1, '\0') + type + TlsVector(2, data);
}

inline std::string ServerNameExtension(std::string_view name) {
  return TlsExtension(0, TlsVector(2, std::string(1, '\0') + TlsVector(2, name)));
}

/// The handshake message without records.
inline std::string HelloMessage(const std::string& extensions) {
  return "\x01" + TlsVector(3, "\x03\x03" + std::string(32, 'r') + TlsVector(1, "session") +
                                   TlsVector(2, "\x13\x01") + TlsVector(1, std::string(1, '\0')) +
                                   TlsVector(2, extensions));
}

/// Records of at most `size` bytes.
inline std::string TlsRecords(std::string_view message, std::size_t size = 16384) {
  std::string records;
  for (; !message.empty(); message.remove_prefix(message.substr(0, size).size()))
    records += "\x16\x03\x01" + TlsVector(2, message.substr(0, size));
  return records;
}

/// Another extension is before the name.
inline std::string ClientHello(std::string_view name) {
  return TlsRecords(HelloMessage(TlsExtension(43, "\x02\x03\x04") + ServerNameExtension(name)));
}

}  // namespace testing_support
