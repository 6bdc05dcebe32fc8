// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <sstream>

#include "agents/agent.h"
#include "commands/documents/documents.h"
#include "commands/project.h"
#include "support/regex.h"
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

/// Markdown as text of two columns. Lines that begin with two spaces keep them.
std::string ForTerminal(const std::string& markdown) {
  static const support::Regex item("- `(.*?)`: (.*)");
  std::size_t width = 0;
  std::string term;
  std::string text;
  std::string_view rest = markdown;
  while (item.FindAndConsume(rest, &term, &text)) width = std::max(width, term.size());
  std::string result;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("limactl ")) {
      result += "  " + line + "\n";
    } else if (line.starts_with("  ")) {
      result += "  " + Wrapped(line, 4);
    } else if (item.FullMatch(line, &term, &text)) {
      term.resize(width + 2, ' ');
      result += "  " + term + Wrapped(text, width + 4);
    } else if (!line.starts_with("```") && !result.ends_with(":\n")) {
      result += Wrapped(line, 0);
    }
  }
  result.pop_back();
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
