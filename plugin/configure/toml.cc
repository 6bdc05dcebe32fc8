#include "configure/toml.h"

namespace configure {
namespace {

std::string Key(const std::string& name) {
  constexpr std::string_view kBare =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const bool is_bare = !name.empty() && name.find_first_not_of(kBare) == name.npos;
  return is_bare ? name : TomlValue(name);
}

}  // namespace

std::string TomlValue(const Json& value) {
  if (value.is_structured()) {
    std::string items;
    for (const auto& [name, item] : value.items()) {
      if (!items.empty()) items += ", ";
      if (value.is_object()) items += Key(name) + " = ";
      items += TomlValue(item);
    }
    return value.is_object() ? "{" + items + "}" : "[" + items + "]";
  }
  // JSON's escapes are TOML's; only DEL need not be escaped in JSON.
  std::string text = value.dump();
  for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos; at += 6) {
    text.replace(at, 1, "\\u007F");
  }
  return text;
}

std::string TomlText(const std::vector<Change>& settings) {
  std::string text;
  KeyPath last;
  for (const Change& setting : settings) {
    const KeyPath table(setting.path.begin(), setting.path.end() - 1);
    if (table != last) text += "\n[" + Dotted(table) + "]\n";
    text += Key(setting.path.back()) + " = " + TomlValue(setting.value) + "\n";
    last = table;
  }
  return text;
}

bool TomlHasServer(std::string_view text) {
  const std::string header = std::string("\n[mcp_servers.") + kServerName;
  const std::string lines = "\n" + std::string(text);
  return lines.find(header + "]") != lines.npos || lines.find(header + ".") != lines.npos;
}

}  // namespace configure
