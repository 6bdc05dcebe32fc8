#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/commands.h"
#include "commands/completions.h"
#include "commands/manual_page.h"
#include "commands/option_parser.h"
#include "commands/tool_descriptions.h"

namespace commands {
namespace {

constexpr int kSchemaIndent = 2;

void WriteSchema(std::ostream& page, const char* heading, const nlohmann::json& schema) {
  page << "### " << heading << "\n\n```json\n" << schema.dump(kSchemaIndent) << "\n```\n";
}

std::string ToolPage() {
  std::ostringstream page;
  page << "---\ntitle: MCP tools\nweight: 99\n---\n\n"
          "`limactl mcp serve INSTANCE` offers these tools to an AI agent. All of them work inside "
          "the virtual machine; paths are those of the host, and only the directories that the "
          "instance mounts can be used. This page is written by `limactl mcp generate-doc`.\n";
  const nlohmann::json descriptions = ToolDescriptions();
  for (const nlohmann::json& tool : descriptions.at("tools")) {
    page << "\n## `" << tool.at("name").get<std::string>() << "`\n\n### Description\n\n"
         << tool.at("description").get<std::string>() << "\n\n";
    WriteSchema(page, "Input Schema", tool.at("inputSchema"));
    page << '\n';
    WriteSchema(page, "Output Schema", tool.at("outputSchema"));
  }
  return page.str();
}

/// Throws support::CallError.
void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    throw support::CallError("cannot write " + path.string() +
                             "; does the directory exist, and may you write to it?");
  }
}

void WriteCompletions(const std::filesystem::path& directory) {
  const std::vector<CompletedCommand> commands = CompletedCommands();
  WriteFile(directory / "limactl-mcp.bash", BashCompletion(commands));
  WriteFile(directory / "_limactl-mcp", ZshCompletion(commands));
  WriteFile(directory / "limactl-mcp.fish", FishCompletion(commands));
}

}  // namespace

OptionParser GenerateDocParser() {
  OptionParser parser("generate-doc", "Write the page of the tools, DIR/mcp.md", "[DIR]", 1);
  parser.AddOptions()("man", "Write the page of the manual, DIR/limactl-mcp.1",
                      cxxopts::value<std::string>(), "DIR")(
      "completions",
      "Write the completions of bash, zsh and fish: limactl-mcp.bash, _limactl-mcp and "
      "limactl-mcp.fish in DIR",
      cxxopts::value<std::string>(), "DIR");
  return parser;
}

int GenerateDoc(const std::vector<std::string>& arguments) {
  OptionParser parser = GenerateDocParser();
  const std::optional<cxxopts::ParseResult> parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const bool man = parsed->count("man") > 0;
  const bool completions = parsed->count("completions") > 0;
  if (parser.positional().empty() && !man && !completions) {
    throw UsageError("generate-doc: expected the directory DIR, --man DIR or --completions DIR");
  }
  const auto directory = [&](const char* option) {
    return std::filesystem::path((*parsed)[option].as<std::string>());
  };
  if (!parser.positional().empty()) {
    WriteFile(std::filesystem::path(parser.positional()[0]) / "mcp.md", ToolPage());
  }
  if (man) WriteFile(directory("man") / "limactl-mcp.1", ManualPage());
  if (completions) WriteCompletions(directory("completions"));
  return 0;
}

}  // namespace commands
