// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.h"

/// The only way out of a closed guest: an HTTP proxy for the names that the user allows.
namespace network {

/// A host name in lower case and a port. Only a name that the user typed is ever looked up.
struct Site {
  std::string host;
  std::uint16_t port = 0;

  auto operator<=>(const Site&) const = default;
  [[nodiscard]] std::string Text() const { return host + ":" + std::to_string(port); }
};

inline constexpr std::uint16_t kHttpsPort = 443;

/// `text` as a name: at least two labels of letters, digits and `-`, the last one not a number; one
/// final dot is dropped. Empty for anything else, such as an address or a wildcard.
std::string HostName(std::string_view text);

/// HOST:PORT; without a port, `default_port` if it is not 0. Empty if either is invalid.
std::optional<Site> ParseSite(std::string_view text, std::uint16_t default_port = 0);

/// What network.allow in an instance's directory says. An invalid line allows nothing.
struct AllowList {
  std::set<Site> sites;
  std::vector<std::string> invalid;  ///< lines, as they are in the file: make them printable
};

inline constexpr std::size_t kMaxAllowList = std::size_t{64} * 1024;

/// Throws support::Error if the file is a link, not readable, or larger than kMaxAllowList: then
/// nothing is allowed. Without a file the list is empty.
AllowList ReadAllowList(const std::filesystem::path& instance_directory);

/// Adds and removes sites, with a lock, and replaces the file at once. Drops invalid lines. Throws
/// support::Error.
void ChangeAllowList(const std::filesystem::path& instance_directory, const std::set<Site>& added,
                     const std::set<Site>& removed);

}  // namespace network
