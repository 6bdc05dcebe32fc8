#include "commands/completions.h"
#include "support/join.h"

// compinit reads the first line: -p has limactl's completion ask here first, and go on by itself
// unless _compskip says that all has been done.

namespace commands {
namespace {

constexpr std::string_view kHead = R"zsh(#compdef limactl-mcp -p limactl
# zsh completion for limactl-mcp and for `limactl mcp`.
# Written by `limactl-mcp generate-doc --completions`.

_limactl_mcp_instances() {
  local -a instances
  instances=(${LIMA_HOME:-$HOME/.lima}/*/lima.yaml(N:h:t))
  compadd -a instances
}

)zsh";

constexpr std::string_view kTail = R"zsh(
if [[ $service == limactl-mcp ]]; then
  _limactl_mcp
else
  # The first word behind limactl and its options.
  local -i _limactl_mcp_at=2
  while [[ $words[_limactl_mcp_at] == -* ]]; do
    [[ $words[_limactl_mcp_at] != --log-(level|format) ]] || (( _limactl_mcp_at++ ))
    (( _limactl_mcp_at++ ))
  done
  if (( _limactl_mcp_at < CURRENT )) && [[ $words[_limactl_mcp_at] == mcp ]]; then
    _compskip=all
    shift $(( _limactl_mcp_at - 1 )) words
    (( CURRENT -= _limactl_mcp_at - 1 ))
    _limactl_mcp
  else
    return 1
  fi
fi
)zsh";

/// A text inside the brackets of _arguments.
std::string Bracketed(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '\\' || c == ':') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Action(const CompletedValue& value) {
  switch (value.kind) {
    case ValueKind::kText:
      return " ";
    case ValueKind::kInstance:
      return "_limactl_mcp_instances";
    case ValueKind::kDirectory:
      return "_files -/";
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kChoice:
      return "(" + support::Join(value.choices, " ") + ")";
  }
  return " ";
}

std::string OptionSpecification(const OptionDescription& option, const CompletedValue& value) {
  const std::string text = "[" + Bracketed(option.text) + "]";
  if (!option.argument.empty()) {
    return ShellWord("*--" + option.name + "=" + text + ":" + Bracketed(option.argument) + ":" +
                     Action(value));
  }
  if (option.letter.empty()) return ShellWord("--" + option.name + text);
  const std::string both = "-" + option.letter + " --" + option.name;
  return ShellWord("(" + both + ")-" + option.letter + text) + " " +
         ShellWord("(" + both + ")--" + option.name + text);
}

std::string CommandCase(const CompletedCommand& command) {
  std::string text = "    " + command.name + ")\n      _arguments -s -S";
  for (const CompletedOption& option : command.options) {
    text += " \\\n        " + OptionSpecification(option.description, option.value);
  }
  for (const CompletedValue& argument : command.arguments) {
    text += " \\\n        " + ShellWord(":: :" + Action(argument));
  }
  return text + "\n      ;;\n";
}

}  // namespace

std::string ZshCompletion(const std::vector<CompletedCommand>& commands) {
  std::string text(kHead);
  text +=
      "_limactl_mcp() {\n  if (( CURRENT == 2 )); then\n    local -a commands\n    commands=(\n";
  for (const CompletedCommand& command : commands) {
    text += "      " + ShellWord(command.name + ":" + Bracketed(command.summary)) + "\n";
  }
  text += "    )\n    _describe -t commands command commands\n    _arguments";
  for (const OptionDescription& option : ProgramOptions()) {
    text += " \\\n      " + OptionSpecification(option, {});
  }
  text += "\n    return\n  fi\n  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n";
  for (const CompletedCommand& command : commands) text += CommandCase(command);
  return text + "  esac\n}\n" + std::string(kTail);
}

}  // namespace commands
