#include "commands/completions.h"
#include "support/join.h"

// For bash 3.2 (macOS) and later, with the package bash-completion or without it.

namespace commands {
namespace {

constexpr std::string_view kHead =
    R"bash(# bash completion for limactl-mcp and, once this file has been read, for `limactl mcp`.
# Written by `limactl-mcp generate-doc --completions`.

_limactl_mcp_instances() {
  local file
  for file in "${LIMA_HOME:-$HOME/.lima}"/*/lima.yaml; do
    [[ -e $file ]] || continue
    file=${file%/lima.yaml}
    file=${file##*/}
    # Lima takes no other names, and compgen -W would expand them.
    [[ $file == *[!A-Za-z0-9._-]* ]] || printf '%s\n' "$file"
  done
}

)bash";

constexpr std::string_view kTail = R"bash(
# Words that begin with what has been typed. Arguments: what may be typed, what was.
_limactl_mcp_reply() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(
    case $1 in
      (directories) compgen -d -- "$2" ;;
      (files) compgen -f -- "$2" ;;
      (instances) compgen -W "$(_limactl_mcp_instances)" -- "$2" ;;
      (*) compgen -W "$1" -- "$2" ;;
    esac
  )
  case $1 in
    # Before bash 4 there is no compopt: directories then end with a blank.
    directories | files) compopt -o filenames 2>/dev/null || true ;;
  esac
}

# Argument: the place of the first word behind the program.
_limactl_mcp_complete() {
  local command='' position=0 before='' i word typed=${COMP_WORDS[COMP_CWORD]}
  for ((i = $1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -z $command ]]; then
      [[ $word == -* ]] || command=$word
    elif [[ $word == -* && -n $(_limactl_mcp_value "$command" "$word") ]]; then
      # bash makes three words of --option=value.
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
  elif [[ -z $command ]]; then
    _limactl_mcp_reply "$_limactl_mcp_commands" "$typed"
  else
    _limactl_mcp_reply "$(_limactl_mcp_argument "$command" $((position + 1)))" "$typed"
  fi
}

_limactl_mcp() {
  _limactl_mcp_complete 1
}

# `limactl mcp …` is completed here, and everything else of limactl by its own completion, which is
# looked for when it is needed and not before.
_limactl_with_mcp() {
  local i loader
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
  if ! declare -F __start_limactl >/dev/null; then
    for loader in _comp_load __load_completion _completion_loader; do
      if declare -F "$loader" >/dev/null; then
        "$loader" limactl >/dev/null 2>&1 || true
        break
      fi
    done
    complete -o default -F _limactl_with_mcp limactl
  fi
  ! declare -F __start_limactl >/dev/null || __start_limactl "$@"
}

complete -F _limactl_mcp limactl-mcp
complete -o default -F _limactl_with_mcp limactl
)bash";

std::string Words(const std::vector<std::string>& words) {
  return support::Join(words, " ");
}

/// What _limactl_mcp_reply takes for it.
std::string Reply(const CompletedValue& value) {
  switch (value.kind) {
    case ValueKind::kText:
      return " ";
    case ValueKind::kInstance:
      return "instances";
    case ValueKind::kDirectory:
      return "directories";
    case ValueKind::kFile:
      return "files";
    case ValueKind::kChoice:
      return Words(value.choices);
  }
  return "";
}

std::vector<std::string> Spellings(const OptionDescription& option) {
  std::vector<std::string> spellings;
  if (!option.letter.empty()) spellings.push_back("-" + option.letter);
  spellings.push_back("--" + option.name);
  return spellings;
}

std::string Print(const std::string& text) {
  return "printf '%s\\n' " + ShellWord(text) + " ;;\n";
}

std::string OptionsFunction(const std::vector<CompletedCommand>& commands) {
  std::string text = "_limactl_mcp_options() {\n  case $1 in\n";
  std::vector<std::string> own;
  for (const OptionDescription& option : ProgramOptions()) {
    for (const std::string& spelling : Spellings(option)) own.push_back(spelling);
  }
  text += "    '') " + Print(Words(own));
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> words;
    for (const CompletedOption& option : command.options) {
      for (const std::string& spelling : Spellings(option.description)) words.push_back(spelling);
    }
    text += "    " + command.name + ") " + Print(Words(words));
  }
  return text + "  esac\n}\n\n";
}

std::string ValueFunction(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "# What an option's value may be; nothing for an option that takes none.\n"
      "_limactl_mcp_value() {\n  case \"$1 $2\" in\n";
  for (const CompletedCommand& command : commands) {
    for (const CompletedOption& option : command.options) {
      if (option.description.argument.empty()) continue;
      std::string pattern;
      for (const std::string& spelling : Spellings(option.description)) {
        pattern += (pattern.empty() ? "" : " | ") + ShellWord(command.name + " " + spelling);
      }
      text += "    " + pattern + ") " + Print(Reply(option.value));
    }
  }
  return text + "  esac\n}\n\n";
}

std::string ArgumentFunction(const std::vector<CompletedCommand>& commands) {
  std::string text = "_limactl_mcp_argument() {\n  case \"$1 $2\" in\n";
  for (const CompletedCommand& command : commands) {
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      text += "    " + ShellWord(command.name + " " + std::to_string(i + 1)) + ") " +
              Print(Reply(command.arguments[i]));
    }
  }
  return text + "  esac\n}\n";
}

}  // namespace

std::string BashCompletion(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CompletedCommand& command : commands) names.push_back(command.name);
  return std::string(kHead) + "_limactl_mcp_commands=" + ShellWord(Words(names)) + "\n\n" +
         OptionsFunction(commands) + ValueFunction(commands) + ArgumentFunction(commands) +
         std::string(kTail);
}

}  // namespace commands
