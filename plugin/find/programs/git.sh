# Functions for calls of git: neither the user's configuration, nor the environment, nor a repository's
# configuration can change what it prints or make it run another program.

# The locale is UTF-8 if there is C.UTF-8. GIT_CONFIG_GLOBAL came with 2.32; before, git reads files below
# HOME and XDG_CONFIG_HOME. Optional locks would write to a repository that is only read. In a partial clone
# git fetches missing objects with programs that the repository names: no protocol is allowed.
set_git_environment() {
  unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE \
    GIT_PREFIX GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_CONFIG GIT_CONFIG_COUNT \
    GIT_CONFIG_PARAMETERS GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS \
    GIT_ICASE_PATHSPECS GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE GIT_TRACE2 GIT_TRACE2_EVENT \
    GIT_TRACE2_PERF GIT_EXEC_PATH GIT_ATTR_SOURCE GIT_REPLACE_REF_BASE
  export HOME=/dev/null XDG_CONFIG_HOME=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null \
    GIT_CONFIG_SYSTEM=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 \
    GIT_ALLOW_PROTOCOL=none GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 TERM=dumb LC_ALL=C.UTF-8
  replace=
}

# git, in place of this shell if `replace` is "exec", with options that win over a repository's
# configuration. safe.directory: on a mount the files may belong to a user that the guest does not have.
# Nothing that git's ownership check guards against (hooks, monitors) is run here.
plain_git() {
  $replace git --no-pager -c safe.directory='*' -c core.fsmonitor=false -c core.untrackedCache=false \
    -c core.quotePath=false -c core.excludesFile=/dev/null -c core.attributesFile=/dev/null \
    -c core.hooksPath=/dev/null -c submodule.recurse=false -c color.ui=false -c grep.lineNumber=true \
    -c grep.column=false -c grep.fullName=false -c grep.threads=0 -c grep.patternType=default \
    -c grep.extendedRegexp=false -c grep.fallbackToNoIndex=false -c color.grep=false "$@"
}
