// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cctype>

#include "commands/documents/documents.h"
#include "commands/documents/markdown.h"
#include "support/format.h"
#include "support/regex.h"

namespace commands {
namespace {

constexpr std::string_view kManualHead = R"(.\" SPDX-License-Identifier: Apache-2.0
.\" Made by ./dev generate
.TH LIMACTL\-MCP 1 2026-11-28 "limactl\-mcp" "User Commands"
.SH NAME
limactl\-mcp \- hand a Lima virtual machine to an AI agent
.SH SYNOPSIS
.B limactl mcp
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
An AI agent reads, writes, searches and runs commands in a Lima virtual machine instead of on the host.
It can use the directories that the instance mounts, or a copy of one project.
The program is a plugin of
.BR limactl (1),
can also be called as
.BR limactl\-mcp ,
and speaks the Model Context Protocol over its standard input and output.
)";

constexpr std::string_view kManualTail = R"(.SH EXIT STATUS
0, or 1 after an error, unless the command says otherwise.
Standard error then has one line: what failed, and what to do.
.SH SEE ALSO
.BR limactl (1),
.BR ssh_config (5)
.PP
https://github.com/limactl\-mcp/limactl\-mcp, https://lima\-vm.io
)";

/// The text in roff, with each sentence on a line of its own.
std::string Roff(std::string text) {
  support::Regex("`(.*?)`").ReplaceAll(text, R"(\\fB\1\\fR)");
  return support::Replaced(support::Replaced(text, ". ", ".\n"), "-", "\\-") + "\n";
}

/// That of a command, or a section of its own.
std::string RoffHeading(std::string text) {
  if (std::islower(static_cast<unsigned char>(text.front())) != 0)
    return ".SS limactl mcp " + Roff(text);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return ".SH " + text + "\n";
}

}  // namespace

std::string Manual() {
  std::string text = std::string(kManualHead) + RoffHeading("Commands");
  bool is_first = true;  // below a heading
  for (const Block& block : ParseMarkdown(OptionsPage())) {
    if (block.text.starts_with("More: ")) continue;
    const bool is_heading = block.kind == Block::Kind::kHeading;
    if (is_heading) {
      text += RoffHeading(block.text);
    } else if (block.kind == Block::Kind::kItem) {
      text += ".TP\n" + Roff("`" + block.term + "`") + Roff(block.text);
    } else {
      if (!is_first) text += ".PP\n";
      const bool is_code = block.kind == Block::Kind::kCode;
      text += is_code ? ".nf\n.RS\n" + Roff(block.text) + ".RE\n.fi\n" : Roff(block.text);
    }
    is_first = is_heading;
  }
  return text + std::string(kManualTail);
}

}  // namespace commands
