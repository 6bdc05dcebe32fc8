#include "doctor/report.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ssh/connection.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/version.h"

namespace doctor {
namespace {

constexpr std::size_t kNameWidth = 14;  // "configuration" and a blank

struct MarkTexts {
  std::string_view name;  ///< in JSON
  std::string_view word;  ///< in lines
};

/// In the order of Mark.
constexpr std::array<MarkTexts, 4> kMarkTexts = {
    {{"passed", "ok  "}, {"warning", "warn"}, {"failed", "FAIL"}, {"skipped", "skip"}}};

const MarkTexts& TextsOf(Mark mark) {
  return kMarkTexts.at(static_cast<std::size_t>(mark));
}

std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return support::Printable(text);
}

std::string Time(std::chrono::milliseconds time) {
  if (time < std::chrono::seconds(1)) return std::to_string(time.count()) + " ms";
  return support::FormatDuration(time);
}

std::ptrdiff_t Count(const std::vector<Result>& results, Mark mark) {
  return std::count_if(results.begin(), results.end(),
                       [mark](const Result& result) { return result.finding.mark == mark; });
}

}  // namespace

std::string ResultLines(const Result& result) {
  const std::string_view word = TextsOf(result.finding.mark).word;
  std::string name = result.check;
  name.resize(std::max(kNameWidth, name.size()), ' ');
  std::string lines = std::string(word) + " " + name + " " + OneLine(result.finding.text);
  if (result.finding.mark != Mark::kSkipped) lines += " (" + Time(result.duration) + ")";
  lines += "\n";
  if (result.finding.advice.empty()) return lines;
  return lines + std::string(word.size() + kNameWidth + 2, ' ') + "-> " +
         OneLine(result.finding.advice) + "\n";
}

bool AnyFailed(const std::vector<Result>& results) {
  return Count(results, Mark::kFailed) > 0;
}

std::string SummaryLine(const std::vector<Result>& results) {
  const auto failed = Count(results, Mark::kFailed);
  const auto warnings = Count(results, Mark::kWarning);
  const auto skipped = Count(results, Mark::kSkipped);
  std::string line = failed == 0 ? "Nothing failed" : std::to_string(failed) + " failed";
  line += ", " + std::to_string(Count(results, Mark::kPassed)) + " passed";
  if (warnings > 0) line += ", " + std::to_string(warnings) + " with a warning";
  if (skipped > 0) line += ", " + std::to_string(skipped) + " skipped";
  return line + ".\n";
}

nlohmann::json ReportJson(const std::string& instance, const std::vector<Result>& results) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Result& result : results) {
    nlohmann::json check = {{"name", result.check},
                            {"result", TextsOf(result.finding.mark).name},
                            {"text", support::ToUtf8(result.finding.text)},
                            {"duration_ms", result.duration.count()}};
    if (!result.finding.advice.empty()) check["advice"] = support::ToUtf8(result.finding.advice);
    checks.push_back(std::move(check));
  }
  return {{"version", support::Version()},
          {"libssh", ssh::LibraryVersion()},
          {"instance", support::ToUtf8(instance)},
          {"passed", !AnyFailed(results)},
          {"checks", std::move(checks)}};
}

}  // namespace doctor
