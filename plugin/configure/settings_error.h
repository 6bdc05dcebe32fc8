#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/errors.h"

namespace configure {

/// Where something stands in a text, counted from 1; columns are characters, not bytes.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// The place of byte `offset` of `text`, which may be its end. A byte order mark has no column.
Position PositionAt(std::string_view text, std::size_t offset);

/// A settings file cannot be read or changed as it is. `what()` is the reason without the file's
/// name, which who knows it puts before `position()`.
class SettingsError : public support::CallError {
 public:
  SettingsError(Position position, const std::string& reason)
      : CallError(reason), position_(position) {}

  [[nodiscard]] Position position() const { return position_; }

 private:
  Position position_;
};

}  // namespace configure
