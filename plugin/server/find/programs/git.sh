# SPDX-License-Identifier: Apache-2.0
# Functions for calls of git: neither the user's configuration, nor the environment, nor a repository's
# configuration can change what it prints or make it run another program.

# The locale is UTF-8 if there is C.UTF-8. GIT_CONFIG_GLOBAL came with 2.32; before, git reads files below
# HOME and XDG_CONFIG_HOME. Optional locks would write to a repository that is only read. In a partial clone
# git fetches missing objects with programs that the repository names: no protocol is allowed.
set_git_environment() {
  cache=$HOME/.cache/limactl-mcp
  unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE \
    GIT_PREFIX GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_CONFIG GIT_CONFIG_COUNT \
    GIT_CONFIG_PARAMETERS GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS \
    GIT_ICASE_PATHSPECS GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE GIT_TRACE2 GIT_TRACE2_EVENT \
    GIT_TRACE2_PERF GIT_EXEC_PATH GIT_ATTR_SOURCE GIT_REPLACE_REF_BASE
  export HOME=/dev/null XDG_CONFIG_HOME=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null \
    GIT_CONFIG_SYSTEM=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 \
    GIT_ALLOW_PROTOCOL=none GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 TERM=dumb LC_ALL=C.UTF-8
  run_by='exec'
  # Through this empty repository, attributes do not say what is binary, and git looks at any directory. git
  # makes it once; a second one if two requests do. One may search already while the other makes it, so the
  # line is appended. Without it, attributes count, and only the top's rules.
  for empty in "$cache/empty" "$cache/empty.$$" /dev/null; do
    [ ! -s "$empty/info/attributes" ] || break
    git init --bare --template= "$empty/info" && git init --bare --template= "$empty" &&
      echo '* !diff' >>"$empty/info/attributes" && break
  done >/dev/null 2>&1
}

# plain_git GIT_DIR ARGUMENT…: git at `top`, run by the command in `run_by`, with options that win over a
# repository's configuration. safe.directory: on a mount the files may belong to a user that the guest does
# not have. Nothing that git's ownership check guards against (hooks, monitors) is run here.
plain_git() (
  export GIT_DIR="$1" GIT_WORK_TREE="$top"
  shift
  $run_by git --no-pager -c safe.directory='*' -c core.fsmonitor=false -c core.untrackedCache=false \
    -c core.quotePath=false -c core.excludesFile="$excludes" -c core.attributesFile=/dev/null \
    -c core.hooksPath=/dev/null -c submodule.recurse=false -c color.ui=false -c grep.lineNumber=true \
    -c grep.column=false -c grep.fullName=false -c grep.threads=0 -c grep.patternType=default \
    -c grep.extendedRegexp=false -c grep.fallbackToNoIndex=false -c color.grep=false "$@"
)

# Sets `top` to the top of the repository around the working directory, or to that if it is in none or inside
# of .git, and `excludes` to the file with rules that is not in the tree.
enter_repository() {
  top=$PWD
  case $PWD/ in
    */.git/*) ;;
    *) while [ -n "$top" ] && [ ! -e "$top/.git" ]; do top=${top%/*}; done ;;
  esac
  top=${top:-$PWD}
  excludes=$top/.git/info/exclude
  [ ! -f "$top/.git" ] || excludes=$(plain_git "$top/.git" rev-parse --git-path info/exclude 2>/dev/null)
}

# A top never is, though git says so of `*`.
is_ignored() {
  [ "$PWD" != "$top" ] && plain_git "$empty" check-ignore --no-index -q . 2>/dev/null
}

# Prints what is ignored and not tracked, a whole directory as one name. Before 2.32, git with --directory skips
# directories that hold nothing tracked; --deduplicate came with 2.31.
list_ignored() {
  for repository in "$top/.git" "$empty"; do
    plain_git "$repository" ls-files "$@" --deduplicate -o -i --exclude-standard --directory && return
    plain_git "$repository" ls-files "$@" -o -i --exclude-standard && return
  done 2>/dev/null
}

# Prints the repositories below, each with a slash at its end.
list_nested() {
  plain_git "$empty" ls-files -o --exclude-standard -- ':(glob)**/*/' 2>/dev/null
}
