#include "commands/documents/page.h"

namespace commands {
namespace {

constexpr std::string_view kManualHead = R"(.\" Made by ./dev generate
.TH LIMACTL\-MCP 1 "" "limactl\-mcp" "User Commands"
.SH NAME
limactl\-mcp \- hand a Lima virtual machine to an AI agent
.SH SYNOPSIS
.B limactl mcp
.I COMMAND
.RI [ OPTIONS ]
.br
.B limactl\-mcp
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
An AI agent reads, writes, searches and runs commands in a Lima virtual machine instead of on the host.
It can use the directories that the instance mounts, or a copy of one project.
The program is a plugin of
.BR limactl (1)
and speaks the Model Context Protocol over its standard input and output.
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
Print help; after a command, help for that command.
.TP
\fB\-v\fR, \fB\-\-version\fR
Print the version.
.SH COMMANDS
)";

constexpr std::string_view kManualTail = R"(.SH EXIT STATUS
0 on success, 1 after an error, with one line on standard error that says what failed and what to do, or as its command says.
.SH SEE ALSO
.BR limactl (1),
.BR ssh_config (5)
.PP
https://lima\-vm.io
)";

class ManualPage : public Page {
 public:
  void Begin(const Command& command, const std::string& usage) override {
    Heading(".SS ", usage);
    Text(Sentences(command));
  }

  void Text(const std::string& text) override {
    if (!is_first_) text_ += ".PP\n";
    is_first_ = false;
    text_ += Roff(text) + "\n";
  }

  void Example(const std::string& line) override {
    Text("Example:");
    text_ += ".PP\n.nf\n.RS\n" + Roff(line) + "\n.RE\n.fi\n";
  }

  void Rows(std::string_view title, const std::vector<Row>& rows) override {
    Text(std::string(title) + ":");
    WriteRows(rows);
  }

  void Section(const std::string& title, const std::vector<Row>& rows) {
    Heading(".SH ", title);
    WriteRows(rows);
  }

  [[nodiscard]] std::string text() const { return text_; }

 private:
  /// A sentence on each line.
  static std::string Roff(std::string_view text) {
    const std::string escaped = Replaced(Replaced(text, "\\", "\\e"), "-", "\\-");
    return Replaced(Marked(escaped, "\\fB", "\\fR"), ". ", ".\n");
  }

  void Heading(const std::string& macro, const std::string& title) {
    text_ += macro + Roff(title) + "\n";
    is_first_ = true;
  }

  void WriteRows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      text_ += ".TP\n\\fB" + Roff(row.term) + "\\fR\n" + Roff(row.text) + "\n";
    }
  }

  std::string text_;
  bool is_first_ = true;  ///< no paragraph stands below the heading yet
};

}  // namespace

std::string Manual() {
  ManualPage page;
  for (const Command& command : Commands()) {
    if (!command.is_hidden) Describe(command, page);
  }
  page.Section("ENVIRONMENT", EnvironmentVariables());
  page.Section("FILES", FilesOfLima());
  return std::string(kManualHead) + page.text() + std::string(kManualTail);
}

}  // namespace commands
