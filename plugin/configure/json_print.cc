#include "configure/json_print.h"

#include <algorithm>

namespace configure {
namespace {

bool IsListOfScalars(const Json& value) {
  return value.is_array() && std::none_of(value.begin(), value.end(),
                                          [](const Json& item) { return item.is_structured(); });
}

}  // namespace

std::string PrintJsonInline(const Json& value) {
  if (!value.is_structured()) return value.dump();
  std::string items;
  for (const auto& [key, item] : value.items()) {
    if (!items.empty()) items += ", ";
    if (value.is_object()) items += Json(key).dump() + ": ";
    items += PrintJsonInline(item);
  }
  return (value.is_object() ? "{" : "[") + items + (value.is_object() ? "}" : "]");
}

std::string PrintJson(const Json& value, const JsonLayout& layout, const std::string& indent,
                      std::size_t used) {
  if (!value.is_structured() || value.empty()) return PrintJsonInline(value);
  if (IsListOfScalars(value)) {
    std::string line = PrintJsonInline(value);
    if (indent.size() + used + line.size() <= kPrintWidth) return line;
  }
  const std::string inner = indent + layout.unit;
  std::string text = value.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    text += (first ? "" : ",") + layout.line_end + inner;
    first = false;
    const std::string label = value.is_object() ? Json(key).dump() + ": " : "";
    text += label + PrintJson(item, layout, inner, label.size());
  }
  return text + layout.line_end + indent + (value.is_object() ? "}" : "]");
}

}  // namespace configure
