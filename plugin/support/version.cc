// SPDX-License-Identifier: Apache-2.0
#include "support/version.h"

#include "support/format.h"
#include "support/regex.h"

namespace support {

std::string_view Version() {
  return LIMACTL_MCP_VERSION;
}

std::optional<Release> ParseRelease(std::string_view text) {
  static const Regex numbers(R"((\d+)\.(\d+)\.(\d+))");
  Release release{};
  auto& [major, minor, patch] = release;
  if (!numbers.PartialMatch(text, &major, &minor, &patch)) return std::nullopt;
  return release;
}

std::string ToString(const Release& release) {
  return Format("{}.{}.{}", release[0], release[1], release[2]);
}

}  // namespace support
