#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lima {

/// Bytes; Lima's pkg/identifiers.
inline constexpr std::size_t kMaximumInstanceName = 76;

/// Throws ConfigurationError unless `name` is one that Lima takes for an instance: groups of ASCII
/// letters and digits with single '.', '_' or '-' between them, at most kMaximumInstanceName bytes,
/// not ending in .yml or .yaml in any case. A name that passes is one harmless path component.
/// Rule: Lima's pkg/identifiers/validate.go, pkg/limatype/dirnames.
void CheckInstanceName(std::string_view name);

/// "lima-" and the name with '.' and '_' replaced by '-': the guest's host name, and what
/// ssh.config calls it. Rule: Lima's pkg/instance/hostname.
std::string HostnameOf(std::string_view name);

}  // namespace lima
