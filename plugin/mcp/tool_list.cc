#include "mcp/tool_list.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mcp/json_writer.h"

namespace mcp {

void AppendDefinition(std::string& out, const ToolDefinition& tool, ResultStyle style) {
  ObjectWriter object(out);
  object.Member("name", std::string_view(tool.name));
  if (!tool.title.empty()) object.Member("title", std::string_view(tool.title));
  object.Member("description", std::string_view(tool.description));
  object.Member("inputSchema", tool.input_schema);
  // Claude Code and opencode fail a call without structuredContent if there is an output schema.
  const bool has_schema = style == ResultStyle::kStructured || !tool.has_text_style;
  if (has_schema && !tool.output_schema.is_null()) {
    object.Member("outputSchema", tool.output_schema);
  }
  if (!tool.annotations.empty()) object.Member("annotations", tool.annotations);
  if (!tool.meta.is_null()) object.Member("_meta", tool.meta);
  object.End();
}

ToolList::ToolList(std::vector<std::unique_ptr<Tool>> tools) {
  const auto by_name = [](const auto& a, const auto& b) {
    return a->definition().name < b->definition().name;
  };
  std::sort(tools.begin(), tools.end(), by_name);
  for (std::unique_ptr<Tool>& tool : tools) {
    const ToolDefinition& definition = tool->definition();
    if (Find(definition.name) != nullptr) {
      throw std::invalid_argument("two tools are named " + definition.name);
    }
    try {
      Schema input(definition.input_schema);
      entries_.push_back({std::move(tool), std::move(input)});
    } catch (const std::exception& error) {
      throw std::invalid_argument("tool " + definition.name + ": " + error.what());
    }
  }
}

const ToolList::Entry* ToolList::Find(std::string_view name) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [name](const Entry& e) {
    return e.tool->definition().name == name;
  });
  return entry == entries_.end() ? nullptr : &*entry;
}

std::string ToolList::Describe(ResultStyle style) const {
  std::string out = "[";
  for (const Entry& entry : entries_) {
    if (out.size() > 1) out += ',';
    AppendDefinition(out, entry.tool->definition(), style);
  }
  out += ']';
  return out;
}

}  // namespace mcp
