// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/commands.h"
#include "commands/documents/documents.h"
#include "commands/option_parser.h"
#include "support/errors.h"
#include "tools/tool_list.h"

namespace commands {
namespace {

void WriteSchema(std::ostream& page, const char* heading, const nlohmann::json& schema) {
  page << "### " << heading << "\n\n```json\n" << schema.dump(2) << "\n```\n";
}

std::string ToolPage() {
  std::ostringstream page;
  page << "---\ntitle: MCP tools\nweight: 99\n---\n\n"
          "`limactl mcp serve INSTANCE` offers these tools to an AI agent. All of them work inside "
          "the virtual machine. Paths are those of the host. The file tools can use what the "
          "instance mounts, or the copy of one project, and directories of `--allow-path`. This "
          "page is written by `limactl mcp generate-doc`.\n";
  for (const mcp::ToolDefinition& tool : tools::Definitions()) {
    page << "\n## `" << tool.name << "`\n\n### Description\n\n" << tool.description << "\n\n";
    WriteSchema(page, "Input Schema", tool.input_schema);
    page << '\n';
    WriteSchema(page, "Output Schema", tool.output_schema);
  }
  return page.str();
}

void Write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    throw support::Error("cannot write {}; name a directory that exists and that you may write to",
                         path.string());
  }
}

}  // namespace

int GenerateDoc(const Parsed& parsed) {
  if (parsed.unmatched().empty()) throw support::Error("generate-doc: name the directory DIR");
  const std::filesystem::path directory = parsed.Positional(0);
  Write(directory / "mcp.md", ToolPage());
  Write(directory / "options.md", OptionsPage());
  Write(directory / "limactl-mcp.1", Manual());
  return 0;
}

}  // namespace commands
