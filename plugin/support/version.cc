#include "support/version.h"

#include <charconv>
#include <system_error>

namespace support {

std::string_view Version() {
  return LIMACTL_MCP_VERSION;
}

std::optional<Release> ParseRelease(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::nullopt;
  const char* at = text.data() + first;
  const char* const end = text.data() + text.size();
  Release release{};
  for (int& number : release) {
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    at = next;
    if (&number != &release.back() && (at == end || *at++ != '.')) return std::nullopt;
  }
  return release;
}

std::string ToString(const Release& release) {
  return std::to_string(release[0]) + "." + std::to_string(release[1]) + "." +
         std::to_string(release[2]);
}

}  // namespace support
