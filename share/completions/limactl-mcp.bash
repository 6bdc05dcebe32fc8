# SPDX-License-Identifier: Apache-2.0
# Completes limactl-mcp in bash 3.2 (macOS) and later and, if this file is read after limactl's own completion,
# `limactl mcp`.

_limactl_mcp() {
  local answer line option='' tab=$'\t'
  COMPREPLY=()
  answer=$(limactl-mcp __complete "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null) || {
    # Another command of limactl.
    [[ -z $_limactl_mcp_own ]] || "$_limactl_mcp_own" "$@"
    return
  }
  while IFS= read -r line; do
    case $line in
      '') ;;
      :directories) option=-d ;;
      :files) option=-f ;;
      *) COMPREPLY+=("${line%%"$tab"*}") ;;
    esac
  done <<<"$answer"
  [[ -n $option ]] || return 0
  # bash 3.2 has no compopt: directories then end with a blank.
  compopt -o filenames 2>/dev/null || true
  line=${COMP_WORDS[COMP_CWORD]}
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$option" -- "${line#=}")
}

# Puts _limactl_mcp before the function that completes limactl. Loads that if it can. If there is none, none is
# set: it would keep limactl's own from being loaded later.
_limactl_mcp_extend() {
  local loader spec
  for loader in _comp_load __load_completion _completion_loader; do
    declare -F "$loader" >/dev/null || continue
    complete -p limactl >/dev/null 2>&1 || "$loader" limactl >/dev/null 2>&1 || true
    break
  done
  spec=$(complete -p limactl 2>/dev/null) || return 0
  [[ $spec == *' -F '* && $spec != *' -F _limactl_mcp '* ]] || return 0
  _limactl_mcp_own=${spec##* -F }
  _limactl_mcp_own=${_limactl_mcp_own%% *}
  eval "${spec/ -F $_limactl_mcp_own / -F _limactl_mcp }"
}

complete -F _limactl_mcp limactl-mcp
_limactl_mcp_extend
