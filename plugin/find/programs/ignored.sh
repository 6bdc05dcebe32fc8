# Follows git.sh.

# print_ignored NUMBER REPOSITORY: NUMBER is that of the request, REPOSITORY a directory or its `.git`. Prints
# to descriptor 4, so as not to split a record of find's output. If the listed directory is itself ignored by
# its repository, nothing in it counts as ignored. For a shell of its own.
print_ignored() {
  set_git_environment
  repository=${2%/.git}
  cd -- "$repository" 2>/dev/null || return 0
  if [ ! -f .git ] && [ ! -f .git/HEAD ]; then
    above=$PWD
    while [ ! -e "$above/.git" ]; do
      [ -n "$above" ] || return 0
      above=${above%/*}
    done
    plain_git check-ignore --no-index -q . 2>/dev/null
    [ $? = 1 ] || return 0
  fi
  printf '/%s %s\0' "$1" "$repository" >&4
  # The trace has the version, since git 2.22; asking for it would take another process.
  trace=$(
    export GIT_TRACE2=5
    replace='exec'
    plain_git ls-files -z -o -i --exclude-standard --directory 5>&1 >&4 2>/dev/null
  )
  # Before 2.32, git with --directory skips directories that hold nothing tracked.
  case $trace in
    '' | *' version 2.2'[0-9].* | *' version 2.3'[01].*)
      plain_git ls-files -z -o -i --exclude-standard >&4 2>/dev/null
      ;;
  esac
}
