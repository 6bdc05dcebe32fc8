#include "commands/documents/page.h"
#include "support/join.h"

namespace commands {
namespace {

constexpr std::string_view kBashScript =
    R"bash(# Made by ./dev generate: bash completion for limactl-mcp and, if this file is read after limactl's own
# completion, for `limactl mcp`. For bash 3.2 (macOS) and later.

_limactl_mcp_instances() {
  local file
  for file in "${LIMA_HOME:-$HOME/.lima}"/*/lima.yaml; do
    [[ -e $file ]] || continue
    file=${file%/lima.yaml}
    file=${file##*/}
    # Lima accepts no other names, and compgen -W would expand them.
    [[ $file == *[!A-Za-z0-9._-]* ]] || printf '%s\n' "$file"
  done
}

@FUNCTIONS@# Sets COMPREPLY to the words of kind $1 that begin with $2.
_limactl_mcp_reply() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(
    # bash 3.2 needs the opening parentheses here.
    case $1 in
      (directories) compgen -d -- "$2" ;;
      (files) compgen -f -- "$2" ;;
      (instances) compgen -W "$(_limactl_mcp_instances)" -- "$2" ;;
      (*) compgen -W "$1" -- "$2" ;;
    esac
  )
  case $1 in
    # bash 3.2 has no compopt: directories then end with a blank.
    directories | files) compopt -o filenames 2>/dev/null || true ;;
  esac
}

# $1: the index of the first word after the program.
_limactl_mcp_complete() {
  local command='' position=0 before='' i word typed=${COMP_WORDS[COMP_CWORD]}
  for ((i = $1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -z $command ]]; then
      [[ $word == -* ]] || command=$word
    elif [[ $word == -* && -n $(_limactl_mcp_value "$command" "$word") ]]; then
      # bash splits --option=value into three words.
      [[ ${COMP_WORDS[i + 1]} != '=' ]] || i=$((i + 1))
      i=$((i + 1))
      ((i < COMP_CWORD)) || before=$word
    elif [[ $word != -* ]]; then
      position=$((position + 1))
    fi
  done
  if [[ -n $before ]]; then
    [[ $typed != '=' ]] || typed=''
    _limactl_mcp_reply "$(_limactl_mcp_value "$command" "$before")" "$typed"
  elif [[ $typed == -* ]]; then
    _limactl_mcp_reply "$(_limactl_mcp_options "$command")" "$typed"
  else
    _limactl_mcp_reply "$(_limactl_mcp_argument "$command" "$position")" "$typed"
  fi
}

_limactl_mcp() {
  _limactl_mcp_complete 1
}

# Completes `limactl mcp …`, and leaves the rest to limactl's own function.
_limactl_with_mcp() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --log-level | --log-format) [[ ${COMP_WORDS[i + 1]} == '=' ]] || i=$((i + 1)) ;;
      '=') i=$((i + 1)) ;;
      -*) ;;
      mcp)
        _limactl_mcp_complete $((i + 1))
        return
        ;;
      *) break ;;
    esac
  done
  "$_limactl_mcp_own" "$@"
}

# Puts _limactl_with_mcp before the function that completes limactl. Loads that if it can. If there is
# none, none is set: it would keep limactl's own from being loaded later.
_limactl_extend() {
  local loader spec
  for loader in _comp_load __load_completion _completion_loader; do
    declare -F "$loader" >/dev/null || continue
    complete -p limactl >/dev/null 2>&1 || "$loader" limactl >/dev/null 2>&1 || true
    break
  done
  spec=$(complete -p limactl 2>/dev/null) || return 0
  [[ $spec == *' -F '* && $spec != *' -F _limactl_with_mcp '* ]] || return 0
  _limactl_mcp_own=${spec##* -F }
  _limactl_mcp_own=${_limactl_mcp_own%% *}
  eval "${spec/ -F $_limactl_mcp_own / -F _limactl_with_mcp }"
}

complete -F _limactl_mcp limactl-mcp
_limactl_extend
)bash";

/// What a value or an argument is to the script. Not empty.
std::string KindForBash(Offers offers) {
  if (offers == Offers::kDirectories) return "directories";
  if (offers == Offers::kFiles) return "files";
  if (offers == Offers::kInstances) return "instances";
  return support::Join(OfferedWords(offers), " ") + " ";
}

}  // namespace

std::string BashCompletion() {
  std::string names;
  std::string options;
  std::string values;
  std::string arguments;
  const auto row = [](const std::string& words, const std::string& result) {
    return "    '" + words + "') echo '" + result + "' ;;\n";
  };
  for (const Command& command : Commands()) {
    if (command.is_hidden) continue;
    const std::string name(command.name);
    names += name + " ";
    std::string all = "-h --help";
    for (const Option& option : AllOptions(command)) {
      const std::string word = " --" + std::string(option.name);
      all += word;
      if (!option.value.empty()) values += row(name + word, KindForBash(option.offers));
    }
    options += row(name, all);
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      arguments += row(name + " " + std::to_string(i), KindForBash(command.arguments[i].offers));
    }
  }
  const auto function = [](const std::string& name, const std::string& word,
                           const std::string& rows) {
    return name + "() {\n  case \"" + word + "\" in\n" + rows + "  esac\n}\n\n";
  };
  return Replaced(
      kBashScript, "@FUNCTIONS@",
      "# The options of a command; '' is the program itself.\n" +
          function("_limactl_mcp_options", "$1", row("", "-h --help -v --version") + options) +
          "# What may follow an option of a command; nothing for an option without a value.\n" +
          function("_limactl_mcp_value", "$1 $2", values) +
          "# What the n-th argument of a command may be, from 0.\n" +
          function("_limactl_mcp_argument", "$1 $2", row(" 0", names) + arguments));
}

}  // namespace commands
