// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

/// Parses and formats durations, sizes and dates.
namespace support {

/// Parses "90s", "10m", "1h30m", "250ms" or "0": sums of whole numbers, each with its unit, at most
/// 1000 hours.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// "9m", "1h", "1h30m5s", "45s", "1.500s". Not negative.
std::string FormatDuration(std::chrono::milliseconds duration);

/// Parses a number of bytes: "262144", "256K", "256KiB", "1M", "1MiB", "1G", "1GiB".
std::optional<std::uint64_t> ParseByteCount(std::string_view text);

/// "256KiB", or "262145 bytes" if no unit divides them evenly.
std::string FormatByteCount(std::uint64_t bytes);

/// As strftime, in UTC or in local time.
std::string FormatTime(std::time_t seconds_since_1970, const char* pattern, bool is_local = false);

/// "2026-01-31T12:00:00.000Z": RFC 3339 in UTC, with milliseconds.
std::string FormatDate(std::chrono::system_clock::time_point time);

/// "1 file" or "2 files".
std::string Count(std::uint64_t number, const std::string& what);

}  // namespace support
