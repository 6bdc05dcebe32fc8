#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/errors.h"

namespace configure {

/// A place in a text, counted from 1. Columns are characters, not bytes.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// The place of byte `offset` of `text`, which may be its end. A byte order mark has no column.
Position PositionAt(std::string_view text, std::size_t offset);

/// A settings file that cannot be read or changed. `what()` is the reason; the caller puts the
/// file's name and `position()` before it.
class SettingsError : public support::CallError {
 public:
  SettingsError(Position position, const std::string& reason)
      : CallError(reason), position_(position) {}

  [[nodiscard]] Position position() const { return position_; }

 private:
  Position position_;
};

/// Bytes of the UTF-8 byte order mark at the start of `text`: 3 or 0. Some editors write one.
std::size_t ByteOrderMarkSize(std::string_view text);

/// The line end of the first line of `text`: "\r\n" or "\n".
std::string LineEndOf(std::string_view text);

}  // namespace configure
