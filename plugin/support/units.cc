#include "support/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace support {
namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

constexpr std::array<Unit, 4> kDurationUnits = {
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::uint64_t kMaxMilliseconds = 1000 * kDurationUnits[0].factor;

constexpr std::array<Unit, 7> kByteUnits = {{{"GiB", 1ULL << 30U},
                                             {"MiB", 1ULL << 20U},
                                             {"KiB", 1ULL << 10U},
                                             {"G", 1ULL << 30U},
                                             {"M", 1ULL << 20U},
                                             {"K", 1ULL << 10U},
                                             {"", 1}}};

/// Parses a number followed by one of the units. Returns nullopt above `maximum`.
std::optional<std::uint64_t> Parse(std::string_view text, std::span<const Unit> units,
                                   std::uint64_t maximum) {
  std::uint64_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix(end, static_cast<std::size_t>(text_end - end));
  for (const Unit& unit : units) {
    if (unit.suffix != suffix) continue;
    if (number > maximum / unit.factor) return std::nullopt;
    return number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  if (text == "0") return std::chrono::milliseconds(0);
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kDigits = "0123456789";
  std::uint64_t total = 0;
  while (!text.empty()) {
    const std::size_t suffix = text.find_first_not_of(kDigits);
    const std::size_t end = std::min(text.find_first_of(kDigits, suffix), text.size());
    const auto part = Parse(text.substr(0, end), kDurationUnits, kMaxMilliseconds - total);
    if (!part) return std::nullopt;
    total += *part;
    text.remove_prefix(end);
  }
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
  if (hours > 0 || minutes > 0) text += std::to_string(minutes) + "m";
  text += std::to_string(seconds);
  if (rest > 0) text += "." + std::to_string(1000 + rest).substr(1);
  return text + "s";
}

std::optional<std::uint64_t> ParseByteCount(std::string_view text) {
  return Parse(text, kByteUnits, std::numeric_limits<std::uint64_t>::max());
}

std::string FormatByteCount(std::uint64_t bytes) {
  std::string text = std::to_string(bytes) + " bytes";
  for (const Unit& unit : kByteUnits) {
    if (bytes == 0 || unit.factor == 1 || bytes % unit.factor != 0) continue;
    return text + " (" + std::to_string(bytes / unit.factor) + " " + std::string(unit.suffix) + ")";
  }
  return text;
}

std::string FormatTime(std::time_t seconds_since_1970, const char* pattern) {
  std::tm parts{};
  ::gmtime_r(&seconds_since_1970, &parts);
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
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace support
