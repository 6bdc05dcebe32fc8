#pragma once

#include <chrono>
#include <string>

namespace support {

/// "2026-01-31T12:00:00.000Z": RFC 3339 in UTC, with milliseconds.
std::string FormatDate(std::chrono::system_clock::time_point time);

}  // namespace support
