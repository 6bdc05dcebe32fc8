#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/errors.h"

namespace configure {

/// A settings file cannot be read or edited. `what()` follows the file's name: ":2:18: reason" with
/// line and column, counted from 1 in characters, or ": reason".
class SettingsError : public support::CallError {
 public:
  explicit SettingsError(const std::string& reason) : CallError(": " + reason) {}
  SettingsError(std::size_t line, std::size_t column, const std::string& reason)
      : CallError(":" + std::to_string(line) + ":" + std::to_string(column) + ": " + reason) {}
};

/// Throws SettingsError for byte `offset` of `text`.
[[noreturn]] void FailAt(std::string_view text, std::size_t offset, const std::string& reason);

/// Bytes of the UTF-8 byte order mark at the start of `text`: 3 or 0. Some editors write one.
std::size_t ByteOrderMarkSize(std::string_view text);

/// The line end of the first line of `text`: "\r\n" or "\n".
std::string LineEndOf(std::string_view text);

}  // namespace configure
