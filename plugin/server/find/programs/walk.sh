# SPDX-License-Identifier: Apache-2.0
# Follows git.sh.

# Must come first in a request.
begin_listing() {
  cd /
  set_git_environment
  export LC_ALL=C
  exec 3>&1 4>&2
}

# walk ARGUMENT…: find with these arguments, which select names. Names go to descriptor 3, messages to 2. Status
# 97: there is neither GNU find, nor another find with a stat command.
#
# GNU find prints times itself; for BusyBox and BSD, stat prints them. Each line has the path, so it does
# not matter if a file vanishes in between. GNU's form is tried first: a find without -printf says so before
# it prints anything.
walk() {
  said=$(find "$@" -printf '%T@ %y %p//\n' 2>&1 >&3)
  status=$?
  case $status:$said in
    127:* | 1:*-printf*) ;;
    *)
      [ -z "$said" ] || printf '%s\n' "$said" >&2
      return $status
      ;;
  esac
  if [ -n "$(find . -maxdepth 0 -exec stat -c '%Y x%f %n//' {} + 2>/dev/null)" ]; then
    find "$@" -exec stat -c '%Y x%f %n//' {} + >&3
  elif [ -n "$(find . -maxdepth 0 -exec stat -f '%Fm x%Xp %N//' {} + 2>/dev/null)" ]; then
    find "$@" -exec stat -f '%Fm x%Xp %N//' {} + >&3
  else
    return 97
  fi
}

# These walk from the working directory. The request's function `selected` calls `walk`, with tests behind the
# arguments.

# walk_links DEPTH: walks so deep. Enters also the links to directories that are below one of `roots`.
walk_links() {
  depth=$1
  selected .
  result=$?
  depth=$((depth - 1))
  set -f --
  IFS=$newline
  # shellcheck disable=SC2044 # a name with a line break is not entered
  for link in $(find . -mindepth 1 -maxdepth "$depth" -type l 2>/dev/null); do
    cd -P -- "$link" 2>/dev/null || continue
    ! is_below_root || set -- "$@" "$link"
    cd -P -- "$directory" || return
  done
  [ $# = 0 ] || selected -H "$@" -mindepth 1 || result=$?
  return $result
}

is_below_root() {
  for root in $roots; do
    case $PWD/ in "${root%/}"/*) return 0 ;; esac
  done
  return 1
}

# walk_repository NUMBER PRUNES DIRECTORY: walks each repository by its own rules, and prints to descriptor 4
# what is ignored, for the request of this number; nothing if the directory is itself ignored. Does not enter
# ignored directories if PRUNES is yes.
walk_repository() {
  number=$1 prunes=$2 at=$3
  hidden=$(list_hidden)
  ignored=${hidden%%//*} nested=${hidden##*//}
  printf '/%s %s\n%s\n' "$number" "$at" "$ignored" >&4
  set -f --
  IFS=$newline
  [ "$prunes" = yes ] || ignored=
  for name in $ignored $nested; do
    case $name in
      *[][\\*?\"]*) ;;
      */) [ $# -gt 9000 ] || set -- "$@" -o -path "$at/${name%/}" ;;
    esac
  done
  selected "$at" -type d \( -path ./.git "$@" \) -prune -o
  result=$?
  for name in $nested; do
    case $name in
      \"*) ;;
      *) (walk_repository "$number" "$prunes" "$at/${name%/}") || result=$? ;;
    esac
  done
  return $result
}

list_hidden() {
  cd -- "$at" 2>/dev/null && command -v git >/dev/null || return 0
  enter_repository
  ! is_ignored || return 0
  list_ignored
  echo //
  list_nested
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
    [ -z "$messages" ] || printf 'failed %s\n//\n' "$messages"
  elif [ -d "$directory" ]; then
    printf 'failed find: .: cannot be entered\n//\n'
  fi
}
