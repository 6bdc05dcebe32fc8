#include "mcp/dialect.h"

#include <algorithm>

namespace mcp {
namespace {

using nlohmann::json;

/// What `server/discover` and `tools/list` say stays true for as long as this process runs; an
/// hour is what the client may rely on without asking.
constexpr int kCacheTtlMilliseconds = 3'600'000;

}  // namespace

std::string_view Name(Version version) {
  switch (version) {
    case Version::k2024_11_05:
      return "2024-11-05";
    case Version::k2025_03_26:
      return "2025-03-26";
    case Version::k2025_06_18:
      return "2025-06-18";
    case Version::k2025_11_25:
      return "2025-11-25";
    case Version::k2026_07_28:
      return "2026-07-28";
  }
  return {};
}

std::optional<Version> FindVersion(std::string_view name) {
  const auto* const found = std::find_if(kVersions.begin(), kVersions.end(),
                                         [name](Version v) { return Name(v) == name; });
  if (found == kVersions.end()) return std::nullopt;
  return *found;
}

Era EraOf(Version version) {
  return version >= Version::k2026_07_28 ? Era::kModern : Era::kLegacy;
}

json SupportedVersions() {
  json names = json::array();
  for (const Version version : kVersions) names.push_back(Name(version));
  return names;
}

json Describe(const ServerInfo& server) {
  return {{"name", server.name}, {"version", server.version}};
}

void Dialect::BeginResult(ObjectWriter& result, const ServerInfo& server,
                          std::string_view result_type) const {
  if (era() == Era::kLegacy) return;
  result.Member("resultType", result_type);
  result.Member("_meta", json{{std::string(meta_key::kServerInfo), Describe(server)}});
}

void Dialect::AddCacheHints(ObjectWriter& result) const {
  if (era() == Era::kLegacy) return;
  result.Member("ttlMs", json(kCacheTtlMilliseconds));
  result.Member("cacheScope", std::string_view("public"));
}

}  // namespace mcp
