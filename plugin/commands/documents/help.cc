// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "agents/agent.h"
#include "commands/documents/documents.h"
#include "commands/documents/markdown.h"
#include "commands/project.h"
#include "support/words.h"

namespace commands {
namespace {

constexpr std::size_t kColumns = 80;

/// Breaks lines between words. All but the first are indented.
std::string Wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (const std::string_view word : support::Words(text)) {
    if (column > indent) {
      const bool fits = column + 1 + word.size() <= kColumns;
      result += fits ? " " : "\n" + std::string(indent, ' ');
      column = fits ? column + 1 : indent;
    }
    result += word;
    column += word.size();
  }
  return result + "\n";
}

/// Markdown as text of two columns.
std::string ForTerminal(const std::string& markdown) {
  const std::vector<Block> blocks = ParseMarkdown(markdown);
  std::size_t width = 0;
  for (const Block& block : blocks) width = std::max(width, block.term.size());
  std::string result;
  Block::Kind previous = Block::Kind::kText;
  for (const Block& block : blocks) {
    const bool goes_on = block.kind == previous && block.kind != Block::Kind::kText;
    if (!result.empty() && !goes_on && !result.ends_with(":\n")) result += '\n';
    previous = block.kind;
    if (block.kind == Block::Kind::kCode) {
      result += "  " + block.text + "\n";
    } else if (block.kind == Block::Kind::kIndented) {
      result += "  " + Wrapped(block.text, 4);
    } else if (block.kind == Block::Kind::kItem) {
      std::string term = block.term;
      term.resize(width + 2, ' ');
      result += "  " + term + Wrapped(block.text, width + 4);
    } else {
      result += Wrapped(block.text, 0);
    }
  }
  std::replace(result.begin(), result.end(), '`', '\'');
  return result;
}

}  // namespace

std::string CommandHelp(const Command& command, const std::vector<std::string>& words) {
  std::string text = Reference(command, true);
  if (command.name == "run" && !words.empty()) {
    text += agents::ArgumentHelp(FindAgent(words.front(), true).run->rules);
  }
  return ForTerminal(text);
}

std::string ProgramHelp() {
  std::vector<Row> commands;
  for (const Command& command : Commands()) {
    commands.push_back({std::string(command.name), std::string(command.brief)});
  }
  return ForTerminal(
      "Hands a Lima virtual machine to an AI agent, as an MCP server.\n\n" +
      Code("Usage:", "COMMAND [OPTIONS]") + List("Commands:", commands) +
      List("Options:", {{"-h, --help", "Print help; `limactl mcp COMMAND --help` for one command"},
                        {"-v, --version", "Print the version"}}) +
      Code("Example:", FindCommand("run")->example));
}

}  // namespace commands
