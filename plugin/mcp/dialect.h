#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/json_writer.h"

/// Every difference between the versions of the protocol that a client can see in an answer. What
/// methods there are in which era is the list in dispatcher.cc.
namespace mcp {

/// The legacy era knows sessions that begin with `initialize`; in the modern era each request
/// says by itself all that is needed to answer it (MCP 2026-07-28, basic/versioning).
enum class Era { kLegacy, kModern };

/// In the order of their dates.
enum class Version { k2024_11_05, k2025_03_26, k2025_06_18, k2025_11_25, k2026_07_28 };

/// Newest first, the order in which they are offered.
inline constexpr std::array kVersions = {Version::k2026_07_28, Version::k2025_11_25,
                                         Version::k2025_06_18, Version::k2025_03_26,
                                         Version::k2024_11_05};

/// What `initialize` is answered with when the client asks for a version we do not know.
inline constexpr Version kNewestLegacyVersion = Version::k2025_11_25;

[[nodiscard]] std::string_view Name(Version version);
[[nodiscard]] std::optional<Version> FindVersion(std::string_view name);
[[nodiscard]] Era EraOf(Version version);

/// `["2026-07-28", …]`, newest first.
[[nodiscard]] nlohmann::json SupportedVersions();

/// Who answers.
struct ServerInfo {
  std::string name;
  std::string version;
};

/// `{"name":…,"version":…}` (specification: "Implementation").
[[nodiscard]] nlohmann::json Describe(const ServerInfo& server);

/// How one version speaks.
class Dialect {
 public:
  explicit Dialect(Version version) : version_(version) {}

  [[nodiscard]] Era era() const { return EraOf(version_); }

  /// Only 2025-03-26 has batches.
  [[nodiscard]] bool batches() const { return version_ == Version::k2025_03_26; }

  /// `annotations` of a tool.
  [[nodiscard]] bool tool_annotations() const { return version_ >= Version::k2025_03_26; }

  /// `message` of a progress notification.
  [[nodiscard]] bool progress_message() const { return version_ >= Version::k2025_03_26; }

  /// `title`, `outputSchema`, `_meta` of a tool, `structuredContent` of a result.
  [[nodiscard]] bool structured_output() const { return version_ >= Version::k2025_06_18; }

  /// What every result says of itself: nothing in the legacy era; `resultType` and who answers in
  /// the modern one. The other members come after it.
  void BeginResult(ObjectWriter& result, const ServerInfo& server,
                   std::string_view result_type = "complete") const;

  /// How long and for whom the result stays valid; modern only.
  void AddCacheHints(ObjectWriter& result) const;

 private:
  Version version_;
};

/// The members of `_meta` that belong to MCP itself.
namespace meta_key {
inline constexpr std::string_view kProtocolVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kClientCapabilities =
    "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";
}  // namespace meta_key

/// SEP-2663.
inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

}  // namespace mcp
