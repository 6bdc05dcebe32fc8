#include "lima/instance_name.h"

#include <algorithm>

#include "lima/configuration_error.h"
#include "support/lower_case.h"

namespace lima {
namespace {

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsSeparator(char c) {
  return c == '.' || c == '_' || c == '-';
}

bool IsIdentifier(std::string_view name) {
  bool after_separator = true;  // a name may not start with one either
  for (const char c : name) {
    if (IsSeparator(c) ? after_separator : !IsAlphanumeric(c)) return false;
    after_separator = IsSeparator(c);
  }
  return !after_separator;
}

bool EndsInYaml(std::string_view name) {
  const std::string lower = support::LowerCase(name);
  return lower.ends_with(".yml") || lower.ends_with(".yaml");
}

}  // namespace

void CheckInstanceName(std::string_view name) {
  const std::string quoted = "\"" + std::string(name.substr(0, kMaximumInstanceName)) + "\"";
  if (name.empty()) throw ConfigurationError("the instance name is empty");
  if (name.size() > kMaximumInstanceName) {
    throw ConfigurationError("the instance name " + quoted + "... is longer than " +
                             std::to_string(kMaximumInstanceName) + " characters");
  }
  if (!IsIdentifier(name)) {
    throw ConfigurationError(quoted +
                             " is not an instance name: letters and digits with single '.', '_' or "
                             "'-' between them are allowed; `limactl list` shows the instances");
  }
  if (EndsInYaml(name)) {
    throw ConfigurationError(quoted + " is not an instance name: it ends like a YAML file");
  }
}

std::string HostnameOf(std::string_view name) {
  std::string hostname = "lima-" + std::string(name);
  std::replace(hostname.begin(), hostname.end(), '.', '-');
  std::replace(hostname.begin(), hostname.end(), '_', '-');
  return hostname;
}

}  // namespace lima
