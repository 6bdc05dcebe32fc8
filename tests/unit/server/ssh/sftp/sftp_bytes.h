// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// An SFTP server's bytes, built independently of the code under test.
namespace sftp_bytes {

inline std::string Number32(std::uint64_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xFFU);
  return bytes;
}

inline std::string Number64(std::uint64_t value) {
  return Number32(value >> 32U) + Number32(value & 0xFFFFFFFFU);
}

inline std::string String(std::string_view text) {
  return Number32(text.size()) + std::string(text);
}

inline std::string Packet(int type, const std::string& rest) {
  return Number32(rest.size() + 1) + static_cast<char>(type) + rest;
}

inline std::string Version(const std::string& extensions = "") {
  return Packet(2, Number32(3) + extensions);
}

/// How OpenSSH's server is known.
inline std::string OpenSshVersion() {
  return Version(String("limits@openssh.com") + String("1"));
}

inline std::string Status(std::uint32_t id, std::uint32_t code) {
  return Packet(101, Number32(id) + Number32(code) + String("text") + String("en"));
}

inline std::string Handle(std::uint32_t id, std::string_view handle) {
  return Packet(102, Number32(id) + String(handle));
}

inline std::string Data(std::uint32_t id, std::string_view bytes) {
  return Packet(103, Number32(id) + String(bytes));
}

/// Attributes with only the size.
inline std::string Attributes(std::uint32_t id, std::uint64_t size) {
  return Packet(105, Number32(id) + Number32(1) + Number64(size));
}

/// Attributes with the size and st_mode.
inline std::string Attributes(std::uint32_t id, std::uint64_t size, std::uint32_t mode) {
  return Packet(105, Number32(id) + Number32(5) + Number64(size) + Number32(mode));
}

/// The answer to READLINK, REALPATH and READDIR.
inline std::string Names(std::uint32_t id, std::uint32_t count, const std::string& names) {
  return Packet(104, Number32(id) + Number32(count) + names);
}

inline std::string Name(std::string_view name) {
  return String(name) + String("-rw-r--r-- " + std::string(name)) + Number32(0);
}

/// With attributes that tell st_mode alone.
inline std::string Name(std::string_view name, std::uint32_t mode) {
  return String(name) + String("") + Number32(4) + Number32(mode);
}

}  // namespace sftp_bytes
