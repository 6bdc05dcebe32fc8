#include "mcp/known_agents.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcp {
namespace {

constexpr std::size_t kKiB = 1024;

struct KnownAgent {
  std::string_view name;  ///< with which the client's name begins
  std::size_t text_bytes = ResultFormat().text_bytes;
};

/// Their limits are somewhat above, so that the tools' last line is shown too.
constexpr std::array kKnownAgents = {
    KnownAgent{"claude-code"},
    KnownAgent{"codex-mcp-client", 40 * kKiB},       // about 48 KB, the middle cut
    KnownAgent{"gemini-cli-mcp-client", 36 * kKiB},  // 40,000 characters, the middle cut
    KnownAgent{"opencode", 48 * kKiB},               // the first 50 KB
    KnownAgent{"cursor"},                            // "cursor-vscode"
    KnownAgent{"Cursor"},
    KnownAgent{"Visual Studio Code"},  // "Visual Studio Code - Insiders"
    KnownAgent{"Zed"},
};

}  // namespace

ResultFormat FormatFor(std::string_view client, std::optional<ResultStyle> style) {
  const auto* const agent =
      std::find_if(kKnownAgents.begin(), kKnownAgents.end(),
                   [client](const KnownAgent& known) { return client.starts_with(known.name); });
  ResultFormat format;
  if (agent != kKnownAgents.end()) {
    format = {.style = ResultStyle::kText, .text_bytes = agent->text_bytes};
  }
  if (style) format.style = *style;
  return format;
}

}  // namespace mcp
