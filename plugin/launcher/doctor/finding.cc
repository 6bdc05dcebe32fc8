// SPDX-License-Identifier: Apache-2.0
#include "doctor/finding.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ssh/connection.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/version.h"

namespace doctor {
namespace {

constexpr std::size_t kNameWidth = 14;  // "configuration" and a space

// Names, in the order of Result.
constexpr std::array<std::string_view, 4> kNames = {"passed", "warning", "failed", "skipped"};
constexpr std::array<std::string_view, 4> kLabels = {"ok  ", "warn", "FAIL", "skip"};

std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return support::Printable(text);
}

}  // namespace

std::string FindingLines(const Finding& finding) {
  const std::string_view label = kLabels.at(static_cast<std::size_t>(finding.result));
  std::string name = finding.check;
  name.resize(std::max(kNameWidth, name.size()), ' ');
  std::string lines = std::string(label) + " " + name + " " + OneLine(finding.text);
  if (finding.result != Result::kSkipped) {
    lines += support::Format(" ({} ms)", finding.duration.count());
  }
  lines += "\n";
  if (finding.advice.empty()) return lines;
  return lines + std::string(label.size() + kNameWidth + 2, ' ') + "-> " + OneLine(finding.advice) +
         "\n";
}

std::string SummaryLine(const std::vector<Finding>& findings) {
  std::string line;
  for (std::size_t result = 0; result < kNames.size(); ++result) {
    const auto count = std::count_if(findings.begin(), findings.end(), [&](const Finding& finding) {
      return static_cast<std::size_t>(finding.result) == result;
    });
    if (count == 0) continue;
    const auto number = static_cast<std::uint64_t>(count);
    line += (line.empty() ? "" : ", ") + (kNames[result] == "warning"
                                              ? support::Count(number, "warning")
                                              : support::Format("{} {}", count, kNames[result]));
  }
  return line + ".\n";
}

bool AnyFailed(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.result == Result::kFailed; });
}

nlohmann::json ReportJson(const std::string& instance, const std::vector<Finding>& findings) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Finding& finding : findings) {
    nlohmann::json check = {{"name", finding.check},
                            {"result", kNames.at(static_cast<std::size_t>(finding.result))},
                            {"text", support::ToUtf8(finding.text)},
                            {"duration_ms", finding.duration.count()}};
    if (!finding.advice.empty()) check["advice"] = support::ToUtf8(finding.advice);
    checks.push_back(std::move(check));
  }
  return {{"version", support::Version()},
          {"libssh", ssh::LibraryVersion()},
          {"instance", support::ToUtf8(instance)},
          {"passed", !AnyFailed(findings)},
          {"checks", std::move(checks)}};
}

}  // namespace doctor
