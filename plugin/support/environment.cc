#include "support/environment.h"

#include "support/join.h"

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

Environment Changed(Environment environment, std::string_view changes) {
  for (const std::string_view change : Words(changes)) {
    const std::size_t equals = change.find('=');
    const std::string name(change.substr(0, equals));
    if (equals != change.npos) {
      environment[name] = change.substr(equals + 1);
    } else if (name.ends_with('*')) {
      std::erase_if(environment,
                    [prefix = change.substr(0, change.size() - 1)](const auto& variable) {
                      return variable.first.starts_with(prefix);
                    });
    } else {
      environment.erase(name);
    }
  }
  return environment;
}

}  // namespace support
