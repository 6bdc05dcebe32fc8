#include "commands/documents/page.h"

namespace commands {
namespace {

class MarkdownPage : public Page {
 public:
  void Begin(const Command& command, const std::string& usage) override {
    text_ += "## " + std::string(command.name) + "\n\n`" + usage + "`\n\n";
    Text(Sentences(command));
    page_ = command.page;
  }

  void Text(const std::string& text) override { text_ += text + "\n\n"; }

  void Example(const std::string& line) override {
    text_ += "```sh\n" + line + "\n```\n\n";
    if (!page_.empty()) Text("See [" + page_ + "](" + page_ + ").");
  }

  void Rows(std::string_view title, const std::vector<Row>& rows) override {
    text_ += std::string(title) + ":\n\n";
    WriteRows(rows);
  }

  void Section(const std::string& title, const std::vector<Row>& rows) {
    text_ += "## " + title + "\n\n";
    WriteRows(rows);
  }

  [[nodiscard]] std::string text() const { return text_; }

 private:
  void WriteRows(const std::vector<Row>& rows) {
    for (const Row& row : rows) text_ += "- `" + row.term + "`: " + row.text + "\n";
    text_ += "\n";
  }

  std::string text_ = "<!-- Made by ./dev generate -->\n# Commands and options\n\n";
  std::string page_;
};

}  // namespace

std::string OptionsPage() {
  MarkdownPage page;
  page.Text(
      "`limactl mcp --help` (`-h`) and `limactl mcp COMMAND --help` print this in short, `limactl "
      "mcp "
      "--version` (`-v`) the version.");
  for (const Command& command : Commands()) {
    if (!command.is_hidden) Describe(command, page);
  }
  page.Section("Environment", EnvironmentVariables());
  page.Section("Files", FilesOfLima());
  std::string text = page.text();
  text.pop_back();
  return text;
}

}  // namespace commands
