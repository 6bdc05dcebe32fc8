# Follows git.sh and ignored.sh, whose text is also in git_functions.

# For `sh -c` below find. `cat` waits until git has finished with the first repository.
ignored_program=$git_functions'cat >/dev/null; print_ignored "$@"'

# Must come first in a request.
begin_listing() {
  cd /
  export LC_ALL=C
  exec 3>&1 4>&2
}

# walk ARGUMENT…: lists the working directory; the arguments select names as find's do. Names go to
# descriptor 3, messages to 2. Status 97: there is neither GNU find, nor another find with a stat command.
#
# GNU find prints times itself; for BusyBox and BSD, stat prints them. Each line has the path, so it does
# not matter if a file vanishes in between. GNU's form is tried first: a find without -printf fails before
# it prints anything.
walk() {
  find . "$@" -printf '%T@ %y %p//\n' >&3 && return
  status=$?
  if find . -maxdepth 0 -printf '' >/dev/null 2>&1; then
    return $status
  elif [ -n "$(find . -maxdepth 0 -exec stat -c '%Y x%f %n//' {} + 2>/dev/null)" ]; then
    find . "$@" -exec stat -c '%Y x%f %n//' {} + >&3
  elif [ -n "$(find . -maxdepth 0 -exec stat -f '%Fm x%Xp %N//' {} + 2>/dev/null)" ]; then
    find . "$@" -exec stat -f '%Fm x%Xp %N//' {} + >&3
  else
    return 97
  fi
}

# The same, with the number of the request before; also prints which names git ignores, in parallel, because
# git reads the same directories.
walk_and_ask_git() {
  number=$1
  shift
  print_ignored "$number" . | walk "$@"
}

# list DIRECTORY WALK ARGUMENT…: walks in the directory.
list() {
  directory=$1
  shift
  printf 'walk//\n'
  if cd -P -- "$directory" 2>/dev/null && [ "$PWD" = "$directory" ]; then
    messages=$("$@" 2>&1)
    status=$?
    # 1: some directories could not be read.
    [ "$status" -le 1 ] || exit "$status"
    case $messages in *'Permission denied'*) printf 'failed %s\n//\n' "$messages" ;; esac
  elif [ -d "$directory" ] && [ ! -x "$directory" ]; then
    printf 'failed find: .: Permission denied\n//\n'
  fi
}
