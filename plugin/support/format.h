// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace support {

/// A text with `Count` times "{}", which the compiler checks.
template <std::size_t Count>
struct FormatText {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is one.
  consteval FormatText(const char* literal) : text(literal) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("{}", at)) != text.npos; at += 2) ++found;
    if (found != Count) throw "the number of {} is not that of the values";
  }

  std::string_view text;
};

std::string Filled(std::string_view text, std::initializer_list<std::string> values);

inline std::string ValueText(std::string_view value) {
  return std::string(value);
}
std::string ValueText(std::integral auto value) {
  return std::to_string(value);
}

/// `text` with each "{}" replaced by the next value, a string or an integer: what std::format does,
/// which GCC 12 has not.
template <typename... Values>
std::string Format(FormatText<sizeof...(Values)> text, const Values&... values) {
  return Filled(text.text, {ValueText(values)...});
}

/// `text` with each `from`, which must not be empty, replaced.
std::string Replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace support
