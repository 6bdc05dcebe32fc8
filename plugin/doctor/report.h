#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace doctor {

/// How results are marked: "✓", "!", "✗" and "-", or "ok", "warn", "FAIL" and "skip".
enum class MarkStyle { kSymbols, kAscii };

/// Symbols for a terminal that shows UTF-8, words for files and pipes. `locale` is the first value
/// that is set of LC_ALL, LC_CTYPE and LANG.
MarkStyle StyleFor(bool is_terminal, const std::string& locale);

/// One line for the check and one for its advice, if any, each with its end, made
/// support::Printable.
std::string ResultLines(const Result& result, MarkStyle style);

/// "2 failed, 14 passed, 1 with a warning, 1 skipped." and its line end; "Nothing failed" for none.
std::string SummaryLine(const std::vector<Result>& results);

bool AnyFailed(const std::vector<Result>& results);

/// What `doctor --json` prints:
///   version   of this program
///   libssh    its version
///   instance  its name
///   passed    false if any check failed
///   checks    in their order, each with
///     name         see Examine
///     result       "passed", "warning", "failed", "skipped"
///     text         what was found
///     advice       what to do; may be missing
///     duration_ms  whole milliseconds
nlohmann::json ReportJson(const std::string& instance, const std::vector<Result>& results);

}  // namespace doctor
