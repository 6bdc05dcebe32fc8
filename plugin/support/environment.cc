// SPDX-License-Identifier: Apache-2.0
#include "support/environment.h"

#include <algorithm>
#include <iterator>

#include "support/words.h"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): macOS declares it nowhere

namespace support {

Environment OwnEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

std::string Value(const Environment& environment, const std::string& name,
                  const std::string& fallback) {
  const auto entry = environment.find(name);
  return entry == environment.end() || entry->second.empty() ? fallback : entry->second;
}

std::string DirectoryOr(const Environment& environment, const std::string& name,
                        const std::string& fallback) {
  const std::string value = Value(environment, name);
  return value.starts_with('/') ? value : fallback;
}

std::string ConfigHome(const Environment& environment) {
  return DirectoryOr(environment, "XDG_CONFIG_HOME", Value(environment, "HOME") + "/.config");
}

Environment Changed(const Environment& environment, std::string_view changes) {
  Environment changed = environment;
  for (std::string_view change : Words(changes)) {
    const bool restores = change.starts_with('+');
    change.remove_prefix(restores ? 1 : 0);
    const auto is_named = [&](const auto& variable) {
      return change.ends_with('*') ? variable.first.starts_with(change.substr(0, change.size() - 1))
                                   : variable.first == change;
    };
    if (const std::size_t equals = change.find('='); equals != change.npos) {
      changed[std::string(change.substr(0, equals))] = change.substr(equals + 1);
    } else if (restores) {
      std::copy_if(environment.begin(), environment.end(), std::inserter(changed, changed.end()),
                   is_named);
    } else {
      std::erase_if(changed, is_named);
    }
  }
  return changed;
}

}  // namespace support
