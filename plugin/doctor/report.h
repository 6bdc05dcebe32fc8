#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace doctor {

/// "ok   connect        text (12 ms)", and a second line for the advice, if any; made
/// support::Printable.
std::string ResultLines(const Result& result);

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
