# Made by ./dev generate: bash completion for limactl-mcp and, if this file is read after limactl's own
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

# The options of a command; '' is the program itself.
_limactl_mcp_options() {
  case "$1" in
    '') echo '-h --help -v --version' ;;
    'serve') echo '-h --help --copy --root --allow-path --allow-settings --start --command-timeout --results --audit' ;;
    'run') echo '-h --help --copy-dir --trust --mcp --host-mcp --root --allow-path --allow-settings --start --command-timeout --results --audit' ;;
    'copy') echo '-h --help --copy-dir --include' ;;
    'diff') echo '-h --help --stat --project --max-size' ;;
    'take') echo '-h --help --apply --yes --branch --project --max-size' ;;
    'drop') echo '-h --help --force --project' ;;
    'changes') echo '-h --help --accept' ;;
    'configure') echo '-h --help --print --user --project --trust --remove' ;;
    'info') echo '-h --help' ;;
    'doctor') echo '-h --help --json' ;;
  esac
}

# What may follow an option of a command; nothing for an option without a value.
_limactl_mcp_value() {
  case "$1 $2" in
    'serve --copy') echo 'directories' ;;
    'serve --root') echo 'directories' ;;
    'serve --allow-path') echo 'directories' ;;
    'serve --command-timeout') echo ' ' ;;
    'serve --results') echo 'auto structured text ' ;;
    'serve --audit') echo 'files' ;;
    'run --copy-dir') echo ' ' ;;
    'run --mcp') echo ' ' ;;
    'run --host-mcp') echo ' ' ;;
    'run --root') echo 'directories' ;;
    'run --allow-path') echo 'directories' ;;
    'run --command-timeout') echo ' ' ;;
    'run --results') echo 'auto structured text ' ;;
    'run --audit') echo 'files' ;;
    'copy --copy-dir') echo ' ' ;;
    'copy --include') echo 'files' ;;
    'diff --project') echo 'directories' ;;
    'diff --max-size') echo ' ' ;;
    'take --branch') echo ' ' ;;
    'take --project') echo 'directories' ;;
    'take --max-size') echo ' ' ;;
    'drop --project') echo 'directories' ;;
  esac
}

# What the n-th argument of a command may be, from 0.
_limactl_mcp_argument() {
  case "$1 $2" in
    ' 0') echo 'serve run copy diff take drop changes configure info doctor ' ;;
    'serve 0') echo 'instances' ;;
    'run 0') echo 'claude codex copilot gemini opencode ' ;;
    'run 1') echo 'instances' ;;
    'run 2') echo ' ' ;;
    'copy 0') echo 'instances' ;;
    'diff 0') echo 'instances' ;;
    'take 0') echo 'instances' ;;
    'drop 0') echo 'instances' ;;
    'changes 0') echo 'instances' ;;
    'configure 0') echo 'claude codex copilot cursor gemini opencode vscode zed ' ;;
    'configure 1') echo 'instances' ;;
    'configure 2') echo ' ' ;;
    'doctor 0') echo 'instances' ;;
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
