// SPDX-License-Identifier: Apache-2.0
#include "support/units.h"

#include <array>
#include <limits>

#include "support/format.h"
#include "support/regex.h"

namespace support {
namespace {

constexpr std::string_view kByteUnits = "KMG";

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  static const Regex part(R"((\d+)(h|ms|m|s))");
  constexpr std::uint64_t kMaximum = 1000 * 3'600'000ULL;
  if (text == "0") return std::chrono::milliseconds(0);
  std::uint64_t total = 0;
  std::uint64_t number = 0;
  std::string unit;
  std::string_view rest = text;
  while (part.Consume(rest, &number, &unit)) {
    const std::uint64_t factor = unit == "h"   ? 3'600'000
                                 : unit == "m" ? 60'000
                                 : unit == "s" ? 1000
                                               : 1;
    if (number > (kMaximum - total) / factor) return std::nullopt;
    total += number * factor;
  }
  if (text.empty() || !rest.empty()) return std::nullopt;
  return std::chrono::milliseconds(total);
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  const std::int64_t total = duration.count();
  const std::int64_t hours = total / 3'600'000;
  const std::int64_t minutes = total / 60'000 % 60;
  const std::int64_t seconds = total / 1000 % 60;
  const std::int64_t rest = total % 1000;
  std::string text;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (minutes > 0) text += std::to_string(minutes) + "m";
  if (seconds == 0 && rest == 0 && !text.empty()) return text;
  text += std::to_string(seconds);
  if (rest > 0) text += "." + std::to_string(1000 + rest).substr(1);
  return text + "s";
}

std::optional<std::uint64_t> ParseByteCount(std::string_view text) {
  static const Regex count(R"((\d+)(?:([KMG])(?:iB)?)?)");
  std::uint64_t number = 0;
  std::string unit;
  if (!count.FullMatch(text, &number, &unit)) return std::nullopt;
  const std::size_t shift = unit.empty() ? 0 : 10 * (kByteUnits.find(unit) + 1);
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

std::string FormatByteCount(std::uint64_t bytes) {
  for (std::size_t unit = kByteUnits.size(); unit > 0 && bytes > 0; --unit) {
    const std::uint64_t factor = 1ULL << (10 * unit);
    if (bytes % factor != 0) continue;
    return Format("{}{}iB", bytes / factor, kByteUnits.substr(unit - 1, 1));
  }
  return Count(bytes, "byte");
}

std::string FormatTime(std::time_t seconds_since_1970, const char* pattern, bool is_local) {
  std::tm parts{};
  (is_local ? ::localtime_r : ::gmtime_r)(&seconds_since_1970, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), pattern, &parts)};
}

std::string FormatDate(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  return FormatTime(std::chrono::system_clock::to_time_t(whole), "%Y-%m-%dT%H:%M:%S.") +
         std::to_string(1000 + milliseconds).substr(1) + "Z";
}

std::string Count(std::uint64_t number, const std::string& what) {
  return Format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace support
