# SPDX-License-Identifier: Apache-2.0
# Made by ./dev generate: bash completion for limactl-mcp and, if this file is read after limactl's own
# completion, for `limactl mcp`. For bash 3.2 (macOS) and later.

# The options of each command and its arguments, counted from 0, with what may follow or stand there; an
# option without a value has nothing. The command - is the program itself.
_limactl_mcp_table='- -h
- --help
- -v
- --version
- 0 help
- 0 serve
help 0 serve
serve -h
serve --help
serve --copy directories
serve --root directories
serve --allow-path directories
serve --allow-settings
serve --start
serve --command-timeout nothing
serve --results auto structured text
serve --audit files
serve 0 instances
- 0 run
help 0 run
run -h
run --help
run --copy-dir nothing
run --trust
run --mcp nothing
run --host-mcp nothing
run --root directories
run --allow-path directories
run --allow-settings
run --start
run --command-timeout nothing
run --results auto structured text
run --audit files
run 0 claude codex copilot gemini opencode
run 1 instances
run 2 nothing
- 0 copy
help 0 copy
copy -h
copy --help
copy --copy-dir nothing
copy 0 instances
- 0 diff
help 0 diff
diff -h
diff --help
diff --stat
diff --project directories
diff --max-size nothing
diff 0 instances
- 0 take
help 0 take
take -h
take --help
take --apply
take --yes
take --undo
take --force
take --branch nothing
take --project directories
take --max-size nothing
take 0 instances
- 0 drop
help 0 drop
drop -h
drop --help
drop --force
drop --undo
drop --purge
drop --project directories
drop 0 instances
- 0 changes
help 0 changes
changes -h
changes --help
changes --accept
changes 0 instances
- 0 configure
help 0 configure
configure -h
configure --help
configure 0 claude codex copilot cursor gemini opencode vscode zed
configure 1 instances
configure 2 nothing
- 0 info
help 0 info
info -h
info --help
- 0 doctor
help 0 doctor
doctor -h
doctor --help
doctor --json
doctor 0 instances
'

# Prints the options of a command or, with a second word, what the table has for that.
_limactl_mcp_find() {
  local command word kind
  while read -r command word kind; do
    if [[ $command == "$1" && $# == 1 && $word == -* ]]; then printf '%s\n' "$word"; fi
    if [[ $command == "$1" && $# == 2 && $word == "$2" ]]; then printf '%s\n' "$kind"; fi
  done <<<"$_limactl_mcp_table"
}

_limactl_mcp_instances() {
  local file
  for file in "${LIMA_HOME:-$HOME/.lima}"/*/lima.yaml; do
    file=${file%/lima.yaml}
    file=${file##*/}
    # Lima accepts no other names, and compgen -W would expand them.
    [[ $file == *[!A-Za-z0-9._-]* ]] || printf '%s\n' "$file"
  done
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
      (nothing) ;;
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
  local command=- position=0 kind='' i typed=${COMP_WORDS[COMP_CWORD]}
  for ((i = $1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      # Behind it are options of `serve`, or words for the agent.
      [[ $command == configure ]] || return 0
      command=serve position=9
    elif [[ ${COMP_WORDS[i]} != -* ]]; then
      [[ $command == - ]] && command=${COMP_WORDS[i]} || position=$((position + 1))
      continue
    fi
    kind=$(_limactl_mcp_find "$command" "${COMP_WORDS[i]}")
    [[ -n $kind ]] || continue
    # bash splits --option=value into three words.
    [[ ${COMP_WORDS[i + 1]} != '=' ]] || i=$((i + 1))
    i=$((i + 1))
    ((i >= COMP_CWORD)) || kind=''
  done
  if [[ -n $kind ]]; then
    _limactl_mcp_reply "$kind" "${typed#=}"
  elif [[ $typed == -* ]]; then
    _limactl_mcp_reply "$(_limactl_mcp_find "$command")" "$typed"
  else
    _limactl_mcp_reply "$(_limactl_mcp_find "$command" "$position")" "$typed"
  fi
}

_limactl_mcp() { _limactl_mcp_complete 1; }

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
_limactl_mcp_extend() {
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
_limactl_mcp_extend
