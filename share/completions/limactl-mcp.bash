# bash completion for limactl-mcp and, once this file has been read, for `limactl mcp`. For bash 3.2
# (macOS) and later, with or without the package bash-completion.

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

# The options of a command; '' is the program itself.
_limactl_mcp_options() {
  local serve='--root --allow-path --command-timeout --max-output --results --start --allow-settings --audit'
  case $1 in
    '') echo '-h --help -v --version' ;;
    serve) echo "-h --help $serve --copy" ;;
    run) echo "-h --help $serve --copy-dir --trust --mcp --host-mcp" ;;
    copy) echo '-h --help --copy-dir --include' ;;
    diff) echo '-h --help --stat --project --max-size' ;;
    take) echo '-h --help --apply --yes --branch --project --max-size' ;;
    drop) echo '-h --help --force --project' ;;
    changes) echo '-h --help --accept' ;;
    configure) echo '-h --help --print --user --project --trust --remove' ;;
    info) echo '-h --help' ;;
    doctor) echo '-h --help --json' ;;
  esac
}

# What may follow an option of a command; nothing for an option without a value.
_limactl_mcp_value() {
  case "$1 $2" in
    'diff --project' | 'take --project' | 'drop --project') echo directories ;;
  esac
  case $2 in
    --root | --allow-path | --copy) echo directories ;;
    --audit | --include) echo files ;;
    --results) echo 'auto structured text' ;;
    --command-timeout | --max-output | --copy-dir | --max-size | --branch | --mcp | --host-mcp) echo ' ' ;;
  esac
}

# What may be the n-th argument of a command.
_limactl_mcp_argument() {
  case "$1 $2" in
    'run 1') echo 'claude codex copilot gemini opencode' ;;
    'configure 1') echo 'claude codex copilot cursor gemini opencode vscode zed' ;;
    'serve 1' | 'copy 1' | 'diff 1' | 'take 1' | 'drop 1' | 'changes 1' | 'doctor 1' | 'run 2' | 'configure 2') echo instances ;;
  esac
}

# Sets COMPREPLY to the words of kind $1 that begin with $2.
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
  elif [[ -z $command ]]; then
    _limactl_mcp_reply 'serve run copy diff take drop changes configure info doctor' "$typed"
  else
    _limactl_mcp_reply "$(_limactl_mcp_argument "$command" $((position + 1)))" "$typed"
  fi
}

_limactl_mcp() {
  _limactl_mcp_complete 1
}

# Completes `limactl mcp …` and leaves the rest to limactl's own completion, loaded on first use.
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
