#include "find/glob_error.h"

#include <algorithm>

#include "support/errors.h"

namespace find {

void ThrowGlobError(std::string_view pattern, std::size_t offset, const std::string& fault) {
  const std::string_view before = pattern.substr(0, offset);
  const auto continuations = std::count_if(before.begin(), before.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  });
  const std::size_t character = before.size() - static_cast<std::size_t>(continuations) + 1;
  throw support::CallError("Bad pattern \"" + std::string(pattern) + "\" at character " +
                           std::to_string(character) + ": " + fault + ".");
}

}  // namespace find
