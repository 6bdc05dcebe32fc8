// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads YAML as strictly as Lima does (goccy/go-yaml, checked by go.yaml.in/yaml). If the two
/// understood a file differently, an agent might write where it must not.
namespace lima::yaml {

/// Parses the first document; empty text is a null node. Throws support::Error that starts with
/// `file`, also for text that is not UTF-8 or starts with a byte order mark.
YAML::Node Parse(std::string_view text, const std::string& file);

/// The values of a mapping.
class Mapping {
 public:
  /// A null node is an empty mapping. `what` ("mounts[2]") and `file` are for errors. Throws
  /// support::Error for other nodes, duplicate keys, keys that are not scalars, and merges
  /// (`<<`).
  Mapping(const YAML::Node& node, std::string file, std::string what);

  // Each returns nullopt if the key is missing or its value is null, and throws support::Error
  // for a value of another type.
  [[nodiscard]] std::optional<bool> Boolean(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> String(std::string_view key) const;
  [[nodiscard]] std::vector<YAML::Node> Sequence(std::string_view key) const;
  [[nodiscard]] Mapping Child(std::string_view key) const;

  using Entries = std::map<std::string, YAML::Node, std::less<>>;
  [[nodiscard]] const Entries& entries() const { return entries_; }

  /// "FILE: mounts[2].location (line 14)".
  [[nodiscard]] std::string Where(std::string_view key) const;

 private:
  /// A null node when the key is missing.
  [[nodiscard]] YAML::Node Find(std::string_view key) const;
  [[nodiscard]] std::string NameOf(std::string_view key) const;
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& text) const;

  std::string file_;
  std::string what_;
  Entries entries_;
};

/// " (line 14)"
std::string AtLine(const YAML::Node& node);

/// Whether Lima reads this scalar as a number or a truth value and prints it differently (1.50,
/// 0x10, 007, True). Also of some that it does not.
bool IsRewrittenByLima(const YAML::Node& node);

}  // namespace lima::yaml
