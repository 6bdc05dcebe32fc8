#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/option_parser.h"
#include "tools/tool_list.h"

namespace commands {
namespace {

void WriteSchema(std::ostream& page, const char* heading, const nlohmann::json& schema) {
  page << "### " << heading << "\n\n```json\n" << schema.dump(2) << "\n```\n";
}

void WriteToolPage(std::ostream& page) {
  page << "---\ntitle: MCP tools\nweight: 99\n---\n\n"
          "`limactl mcp serve INSTANCE` offers these tools to an AI agent. All of them work inside "
          "the virtual machine; paths are those of the host, and only the directories that the "
          "instance mounts can be used. This page is written by `limactl mcp generate-doc`.\n";
  for (const mcp::ToolDefinition& tool : tools::Definitions()) {
    page << "\n## `" << tool.name << "`\n\n### Description\n\n" << tool.description << "\n\n";
    WriteSchema(page, "Input Schema", tool.input_schema);
    page << '\n';
    WriteSchema(page, "Output Schema", tool.output_schema);
  }
}

}  // namespace

int GenerateDoc(const std::vector<std::string>& arguments) {
  OptionParser parser("generate-doc", "Write the page of the tools, DIR/mcp.md", "DIR", 1);
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  if (parsed->unmatched().empty()) throw UsageError("generate-doc: name the directory DIR");
  const std::filesystem::path path = std::filesystem::path(parsed->unmatched()[0]) / "mcp.md";
  std::ofstream page(path, std::ios::binary | std::ios::trunc);
  WriteToolPage(page);
  page.close();
  if (!page) {
    throw support::CallError("cannot write " + path.string() +
                             "; name a directory that exists and that you may write to");
  }
  return 0;
}

}  // namespace commands
