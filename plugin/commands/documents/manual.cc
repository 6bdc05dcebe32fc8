// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <utility>

#include "commands/documents/documents.h"
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

/// Replacements in the Markdown of options.md, one after the other.
constexpr std::array<std::pair<const char*, const char*>, 12> kRoff = {{
    {"(?s)^.*?\n\n", ".SH COMMANDS\n"},
    {"## Environment\n\n", ".SH ENVIRONMENT\n"},
    {"## Files\n\n", ".SH FILES\n"},
    {"## (.*)\n\n", ".SS limactl mcp \\1\n"},
    {"More: .*\n\n", ""},
    {"- `(.*?)`: (.*)\n", ".TP\n\\\\fB\\1\\\\fR\n\\2\n"},
    {"\n```sh\n(.*)\n```\n", "\n.nf\n.RS\n\\1\n.RE\n.fi\n"},
    {"`(.*?)`", "\\\\fB\\1\\\\fR"},
    {"\n\n(\\.TP|\\.S)", "\n\\1"},
    {"\n\n", "\n.PP\n"},
    {"\\. ", ".\n"},
    {"-", "\\\\-"},
}};

}  // namespace

std::string Manual() {
  std::string text = OptionsPage();
  for (const auto& [pattern, replacement] : kRoff) {
    support::Regex(pattern).ReplaceAll(text, replacement);
  }
  return std::string(kManualHead) + text + std::string(kManualTail);
}

}  // namespace commands
