// SPDX-License-Identifier: Apache-2.0
#include "commands/documents/completion.h"
#include "commands/documents/documents.h"
#include "support/format.h"

namespace commands {
namespace {

using support::Replaced;

constexpr std::string_view kZshScript = R"zsh(#compdef limactl-mcp -p limactl
# SPDX-License-Identifier: Apache-2.0
# Made by ./dev generate: zsh completion for limactl-mcp and for `limactl mcp`.

_limactl_mcp_instances() {
  local -a instances
  instances=(${LIMA_HOME:-$HOME/.lima}/*/lima.yaml(N:h:t))
  compadd -a instances
}

_limactl_mcp() {
  local -a commands help
  help=('(-h --help)'{-h,--help}'[Print help]')
  if (( CURRENT == 2 )) || [[ CURRENT -eq 3 && $words[2] == help ]]; then
    commands=(
      'help:Print help'
@COMMANDS@    )
    _describe -t commands command commands
    _arguments $help '(-v --version)'{-v,--version}'[Print the version]'
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
@CASES@  esac
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

std::string QuotedForZsh(std::string_view text) {
  std::string quoted = Replaced(text, "'", R"('\'')");
  for (const std::string special : {":", "[", "]"}) {
    quoted = Replaced(quoted, special, "\\" + special);
  }
  return quoted;
}

}  // namespace

std::string ZshCompletion() {
  const CompletionFormat names = {.command = "      '@COMMAND@:@BRIEF@'\n",
                                  .quoted = &QuotedForZsh};
  const CompletionFormat cases = {.command = "    @COMMAND@)\n      _arguments -s -S $help",
                                  .option = " \\\n        '--@NAME@[@BRIEF@]'",
                                  .value = " \\\n        '@*@--@NAME@=[@BRIEF@]:@VALUE@:@OFFER@'",
                                  .argument = " \\\n        ':: :@OFFER@'",
                                  .end = "\n      ;;\n",
                                  .quoted = &QuotedForZsh,
                                  .nothing = " ",
                                  .directories = "_files -/",
                                  .files = "_files",
                                  .instances = "_limactl_mcp_instances",
                                  .words = "(@WORDS@)"};
  return Replaced(Replaced(kZshScript, "@COMMANDS@", Completion(names)), "@CASES@",
                  Completion(cases));
}

}  // namespace commands
