#include <algorithm>

#include "commands/documents/page.h"
#include "support/join.h"

namespace commands {
namespace {

constexpr std::size_t kColumns = 80;

/// Breaks lines between words. All but the first are indented.
std::string Wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (const std::string_view word : support::Words(text)) {
    if (!result.empty() && column + 1 + word.size() > kColumns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + "\n";
}

class HelpPage : public Page {
 public:
  void Begin(const Command& command, const std::string& usage) override {
    Text(std::string(command.brief) + ".");
    text_ += "Usage:\n  " + usage + "\n\n";
    if (!command.more.empty()) Text(std::string(command.more));
  }

  void Text(const std::string& text) override { text_ += Wrapped(Marked(text, "", ""), 0) + "\n"; }

  void Rows(std::string_view title, const std::vector<Row>& rows) override {
    std::size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row.term.size());
    text_ += std::string(title) + ":\n";
    for (const Row& row : rows) {
      text_ += "  " + row.term + std::string(width - row.term.size() + 2, ' ') +
               Wrapped(Marked(row.text, "'", "'"), width + 4);
    }
    text_ += "\n";
  }

  void Example(const std::string& line) override { example_ = "Example:\n  " + line + "\n"; }

  [[nodiscard]] bool is_complete() const override { return false; }
  [[nodiscard]] std::string text() const { return text_ + example_; }

 private:
  std::string text_;
  std::string example_;  ///< comes last
};

}  // namespace

std::string CommandHelp(const Command& command) {
  HelpPage page;
  Describe(command, page);
  return page.text();
}

std::string ProgramHelp() {
  std::vector<Row> commands;
  for (const Command& command : Commands()) {
    if (command.is_hidden) continue;
    commands.push_back({std::string(command.name), std::string(command.brief)});
  }
  HelpPage page;
  page.Begin({.brief = "Hands a Lima virtual machine to an AI agent, as an MCP server"},
             "limactl mcp COMMAND [OPTIONS]");
  page.Rows("Commands", commands);
  page.Rows("Options", {{"-h, --help", "Print help; 'limactl mcp COMMAND --help' for one command"},
                        {"-v, --version", "Print the version"}});
  page.Example("limactl mcp run claude");
  return page.text();
}

}  // namespace commands
