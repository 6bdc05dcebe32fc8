#include "commands/documents/page.h"
#include "support/join.h"

namespace commands {
namespace {

constexpr std::string_view kZshScript = R"zsh(#compdef limactl-mcp -p limactl
# Made by ./dev generate: zsh completion for limactl-mcp and for `limactl mcp`.

_limactl_mcp_instances() {
  local -a instances
  instances=(${LIMA_HOME:-$HOME/.lima}/*/lima.yaml(N:h:t))
  compadd -a instances
}

_limactl_mcp() {
  local -a commands help
  help=('(-h --help)'{-h,--help}'[Print help]')
  if (( CURRENT == 2 )); then
    commands=(
@COMMANDS@    )
    _describe -t commands command commands
    _arguments $help '(-v --version)'{-v,--version}'[Print the version]'
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
@OPTIONS@  esac
}

if [[ $service == limactl-mcp ]]; then
  _limactl_mcp
else
  # The first word after limactl and its options.
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

/// Within quotes, and within a part of a specification of _arguments.
std::string QuotedForZsh(std::string_view text) {
  std::string quoted = Replaced(Marked(text, "", ""), "'", R"('\'')");
  for (const std::string special : {":", "[", "]"})
    quoted = Replaced(quoted, special, "\\" + special);
  return quoted;
}

/// The last part of a specification.
std::string ActionOfZsh(Offers offers) {
  if (offers == Offers::kDirectories) return "_files -/";
  if (offers == Offers::kFiles) return "_files";
  if (offers == Offers::kInstances) return "_limactl_mcp_instances";
  const auto words = OfferedWords(offers);
  return words.empty() ? " " : "(" + support::Join(words, " ") + ")";
}

}  // namespace

std::string ZshCompletion() {
  std::string names;
  std::string cases;
  for (const Command& command : Commands()) {
    if (command.is_hidden) continue;
    const std::string name(command.name);
    names += "      '" + name + ":" + QuotedForZsh(command.brief) + "'\n";
    cases += "    " + name + ")\n      _arguments -s -S $help";
    for (const Option& option : AllOptions(command)) {
      const bool is_switch = option.value.empty();
      cases += std::string(" \\\n        '") + (option.is_list ? "*" : "") + "--" +
               std::string(option.name) + (is_switch ? "[" : "=[") + QuotedForZsh(option.brief) +
               "]";
      if (!is_switch) cases += ":" + QuotedForZsh(option.value) + ":" + ActionOfZsh(option.offers);
      cases += "'";
    }
    for (const Argument& argument : command.arguments) {
      cases += " \\\n        ':: :" + ActionOfZsh(argument.offers) + "'";
    }
    cases += "\n      ;;\n";
  }
  return Replaced(Replaced(kZshScript, "@COMMANDS@", names), "@OPTIONS@", cases);
}

}  // namespace commands
