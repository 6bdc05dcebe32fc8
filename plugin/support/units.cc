#include "support/units.h"

#include <array>
#include <charconv>
#include <ctime>
#include <limits>

namespace support {
namespace {

struct DurationUnit {
  std::string_view suffix;
  std::int64_t milliseconds;
};

// From large to small, as a duration must name them.
constexpr std::array<DurationUnit, 4> kDurationUnits = {
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::int64_t kMaximumMilliseconds = 1000 * kDurationUnits[0].milliseconds;

struct ByteUnit {
  std::string_view short_suffix;
  std::string_view long_suffix;
  std::uint64_t bytes;
};

constexpr std::array<ByteUnit, 3> kByteUnits = {
    {{"G", "GiB", 1ULL << 30U}, {"M", "MiB", 1ULL << 20U}, {"K", "KiB", 1ULL << 10U}}};

/// Removes the digits at the front of `text`.
template <typename Number>
std::optional<Number> TakeNumber(std::string_view& text) {
  Number value = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view TakeLetters(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && (text[count] < '0' || text[count] > '9')) ++count;
  const std::string_view letters = text.substr(0, count);
  text.remove_prefix(count);
  return letters;
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  if (text == "0") return std::chrono::milliseconds(0);
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const std::optional<std::int64_t> number = TakeNumber<std::int64_t>(text);
    const std::string_view suffix = TakeLetters(text);
    while (next_unit < kDurationUnits.size() && kDurationUnits[next_unit].suffix != suffix) {
      ++next_unit;
    }
    if (!number || next_unit == kDurationUnits.size()) return std::nullopt;
    const std::int64_t unit = kDurationUnits[next_unit++].milliseconds;
    if (*number > (kMaximumMilliseconds - total) / unit) return std::nullopt;
    total += *number * unit;
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
  const std::optional<std::uint64_t> number = TakeNumber<std::uint64_t>(text);
  if (!number) return std::nullopt;
  if (text.empty()) return number;
  for (const ByteUnit& unit : kByteUnits) {
    if (text != unit.short_suffix && text != unit.long_suffix) continue;
    if (*number > std::numeric_limits<std::uint64_t>::max() / unit.bytes) return std::nullopt;
    return *number * unit.bytes;
  }
  return std::nullopt;
}

std::string FormatByteCount(std::uint64_t bytes) {
  std::string text = std::to_string(bytes) + " bytes";
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes == 0 || bytes % unit.bytes != 0) continue;
    return text + " (" + std::to_string(bytes / unit.bytes) + " " + std::string(unit.long_suffix) +
           ")";
  }
  return text;
}

std::string FormatDate(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm utc = {};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 64> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", &utc);
  return text.data() + std::to_string(1000 + milliseconds).substr(1) + "Z";
}

}  // namespace support
