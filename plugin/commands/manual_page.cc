#include "commands/manual_page.h"

#include <sstream>
#include <string_view>

#include "commands/command_list.h"
#include "support/join.h"
#include "support/version.h"

namespace commands {
namespace {

/// `text` as it is, with nothing that roff would take for an instruction.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (escaped.empty() && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// A text of the help, which has no last full stop.
std::string Sentence(std::string_view text) {
  // roff wants a line for each sentence.
  std::string lines = Roff(text);
  for (std::size_t at = 0; (at = lines.find(". ", at)) != std::string::npos; ++at) {
    lines[at + 1] = '\n';
  }
  return lines + (text.ends_with('.') ? "\n" : ".\n");
}

std::string OptionParagraph(const OptionDescription& option) {
  std::string text = ".TP\n";
  if (!option.letter.empty()) text += "\\fB\\-" + option.letter + "\\fR, ";
  text += R"(\fB\-\-)" + Roff(option.name) + "\\fR";
  if (!option.argument.empty()) text += " \\fI" + Roff(option.argument) + "\\fR";
  text += "\n" + Sentence(option.text);
  if (!option.default_value.empty()) text += "The default is " + Sentence(option.default_value);
  return text;
}

std::string CommandSection(const Command& command) {
  const OptionParser parser = command.parser();
  std::string text = ".SS limactl mcp " + Roff(command.name) + " [OPTIONS]";
  if (!parser.positional_help().empty()) text += " " + Roff(parser.positional_help());
  text += "\n" + Sentence(parser.summary());
  for (const OptionDescription& option : parser.DescribeOptions()) text += OptionParagraph(option);
  const std::string agents = support::Join(parser.Choices("AGENT"));
  if (!agents.empty()) text += ".PP\n\\fIAGENT\\fR is one of: " + Sentence(agents);
  return text;
}

constexpr std::string_view kDescription = R"(.SH SYNOPSIS
.B limactl mcp
.I COMMAND
.RI [ OPTIONS ]
.br
.B limactl\-mcp
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
Hands a Lima virtual machine to an AI agent: the agent reads, writes, searches and runs commands in
the virtual machine, in the directories that the instance mounts, instead of on the host.
The program is a plugin of
.BR limactl (1)
and speaks the Model Context Protocol over its standard input and output.
Agents start it by themselves once they are told to; people start it to see what is wrong.
)";

constexpr std::string_view kEnd = R"(.SH ENVIRONMENT
.TP
.B LIMA_HOME
The directory of Lima's instances; the default is
.IR ~/.lima .
.TP
.BR HOME ", " USER ", " TMPDIR
What the templates of an instance's mounts may refer to.
.TP
.B PATH
Where
.B limactl
is looked for, which
.B serve \-\-start
and
.B doctor
run.
.TP
.BR CLAUDE_CONFIG_DIR ", " CODEX_HOME ", " GEMINI_CLI_HOME ", " XDG_CONFIG_HOME
Where agents have the user's own settings, for
.BR "configure \-\-user" .
Each must be an absolute path where it is set.
.SH FILES
.TP
.I $LIMA_HOME/INSTANCE/lima.yaml
The instance's configuration.
Its mounts are the only directories that the file tools accept, but for those of
.BR "serve \-\-allow\-path" .
.TP
.IR $LIMA_HOME/_config/default.yaml ", " $LIMA_HOME/_config/override.yaml
What Lima adds to the configuration of every instance, mounts included.
.TP
.I $LIMA_HOME/INSTANCE/ssh.config
How to reach the instance; read before each connection.
The keys that it names are used; the user's own configuration of SSH is never read, nor an agent
asked.
.SH EXIT STATUS
0, or 1 with one line on standard error that says what was wrong and what to do.
That of
.B doctor
is 1 also when a check failed.
.SH EXAMPLES
A virtual machine that mounts nothing but the project, and its server:
.PP
.nf
.RS
limactl start \-\-mount\-only "$PWD:w" \-\-name agent
limactl mcp serve agent \-\-root .
.RE
.fi
.SH SEE ALSO
.BR limactl (1),
.BR ssh_config (5)
.PP
https://lima\-vm.io
)";

}  // namespace

std::string ManualPage() {
  std::ostringstream page;
  page << ".\\\" Written by `limactl-mcp generate-doc --man`.\n"
       << R"(.TH LIMACTL\-MCP 1 "" "limactl\-mcp )" << Roff(support::Version())
       << "\" \"User Commands\"\n"
       << ".SH NAME\n"
       << "limactl\\-mcp \\- hand a Lima virtual machine to an AI agent\n"
       << kDescription << ".SH COMMANDS\n";
  for (const Command& command : CommandList()) {
    if (!command.summary.empty()) page << CommandSection(command);
  }
  page << ".SH OPTIONS\n";
  for (const OptionDescription& option : ProgramOptions()) page << OptionParagraph(option);
  page << kEnd;
  return page.str();
}

}  // namespace commands
