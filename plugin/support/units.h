#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Durations and sizes as people write them on a command line.
namespace support {

/// Reads "90s", "10m", "1h", "1h30m", "250ms" or "0"; whole numbers only, each unit at most once
/// and from large to small, at most 1000 hours in all. Empty when `text` is none of these.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// "9m0s", "1h0m0s", "45s": as Go prints durations, which is how Lima's users know them, but a part
/// of a second always has three digits ("1.500s", "0.250s"). Not negative.
std::string FormatDuration(std::chrono::milliseconds duration);

/// Reads a number of bytes: "262144", "256K", "256KiB", "1M", "1MiB", "1G", "1GiB". Empty when
/// `text` is none of these or does not fit.
std::optional<std::uint64_t> ParseByteCount(std::string_view text);

/// "262144 bytes (256 KiB)"; only the number of bytes where no unit divides it evenly.
std::string FormatByteCount(std::uint64_t bytes);

}  // namespace support
