#include "mcp/tool_list.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mcp/json_writer.h"

namespace mcp {

void AppendDefinition(std::string& out, const ToolDefinition& tool, const Dialect& dialect) {
  ObjectWriter object(out);
  object.Member("name", std::string_view(tool.name));
  if (dialect.structured_output() && !tool.title.empty()) {
    object.Member("title", std::string_view(tool.title));
  }
  object.Member("description", std::string_view(tool.description));
  object.Member("inputSchema", tool.input_schema);
  if (dialect.structured_output() && !tool.output_schema.is_null()) {
    object.Member("outputSchema", tool.output_schema);
  }
  if (dialect.tool_annotations() && !tool.annotations.empty()) {
    object.Member("annotations", tool.annotations);
  }
  if (dialect.structured_output() && !tool.meta.is_null()) object.Member("_meta", tool.meta);
  object.End();
}

namespace {

ToolList::Entry MakeEntry(std::unique_ptr<Tool> tool) {
  const ToolDefinition& definition = tool->definition();
  try {
    Schema input(definition.input_schema);
    return {std::move(tool), std::move(input)};
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("tool " + definition.name + ": " + error.what());
  }
}

}  // namespace

ToolList::ToolList(std::vector<std::unique_ptr<Tool>> tools) {
  const auto name = [](const std::unique_ptr<Tool>& tool) -> const std::string& {
    return tool->definition().name;
  };
  std::sort(tools.begin(), tools.end(),
            [&name](const auto& a, const auto& b) { return name(a) < name(b); });
  const auto twin =
      std::adjacent_find(tools.begin(), tools.end(),
                         [&name](const auto& a, const auto& b) { return name(a) == name(b); });
  if (twin != tools.end()) throw std::invalid_argument("two tools are named " + name(*twin));
  for (std::unique_ptr<Tool>& tool : tools) entries_.push_back(MakeEntry(std::move(tool)));
}

const ToolList::Entry* ToolList::Find(std::string_view name) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [name](const Entry& e) {
    return e.tool->definition().name == name;
  });
  return entry == entries_.end() ? nullptr : &*entry;
}

std::string ToolList::Describe(const Dialect& dialect) const {
  std::string out = "[";
  for (const Entry& entry : entries_) {
    if (out.size() > 1) out += ',';
    AppendDefinition(out, entry.tool->definition(), dialect);
  }
  out += ']';
  return out;
}

}  // namespace mcp
