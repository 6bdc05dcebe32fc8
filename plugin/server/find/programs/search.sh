# SPDX-License-Identifier: Apache-2.0
# Follows git.sh. The functions after begin_search search the working directory and exit.

newline='
'

# begin_search DIRECTORY: status 98 if it cannot be entered, or is a link now.
begin_search() {
  set_git_environment
  cd -P -- "$1" && [ "$PWD" = "$1" ] || exit 98
}

# search_with_git WHAT PATHSPEC…: WHAT is all, or visible: what git tracks or does not ignore. The function
# `search` calls git_grep for the pathspecs. Prints a directory and NUL before what is found in another
# repository. If skips_large is set, names large files, and leaves them out. Status 97: there is no git.
search_with_git() {
  command -v git >/dev/null 2>&1 || exit 97
  enter_repository
  what=$1 nested='' base=$PWD large=
  shift
  [ -z "$skips_large" ] || large=$(find . -name .git -prune -o -type f -size +65536k -print | sort)
  [ -z "$large" ] || printf 'too large for git, so not searched (path or include can leave it out):\n%s\n' \
    "$large" >&2
  "search_$what" "$@"
}

git_grep() {
  set -f
  IFS=$newline
  for name in $large; do
    case $base${name#.} in
      "$PWD"/*) set -- "$@" ":(exclude,literal)$base${name#.}" ;;
    esac
  done
  unset IFS
  # shellcheck disable=SC2086 # two words
  plain_git "$empty" grep $mode --null --line-number -H --no-color --no-column --no-heading --no-break \
    --no-full-name --no-textconv "$@"
}

search_all() {
  mode='--no-index --no-exclude-standard'
  search "$@"
}

search_visible() {
  mode='--untracked --exclude-standard'
  [ "$empty" != /dev/null ] || mode='--no-index --exclude-standard'
  list_more | {
    search "$@"
    status=$?
    [ "$status" -le 1 ] || exit "$status"
    if [ "$status" = 1 ] && is_ignored; then
      search_all "$@"
      exit
    fi
    while IFS= read -r name; do
      case $name in
        \"*/\") ;; # contains a control character or a quote
        */) nested=$nested$name$newline ;;
        *) search_tracked && break ;;
      esac
    done
    set -f
    IFS=$newline
    for name in $nested; do (
      unset IFS
      nested=
      cd -P -- "$name" 2>/dev/null || exit
      printf '%s\0' "$PWD"
      enter_repository
      search_visible .
    ); done
    exit "$status"
  }
}

# Prints, while files are searched, what is missing among them: repositories, then tracked files that are
# ignored.
list_more() {
  list_nested
  if [ -f "$top/.git" ] || [ -e "$top/.git/index" ]; then list_tracked; fi
}

list_tracked() {
  plain_git "$top/.git" ls-files "$@" -c -i --exclude-standard 2>/dev/null
}

search_tracked() {
  list_tracked -z | (
    export GIT_LITERAL_PATHSPECS=1
    run_by='xargs -0 -n 500'
    search_all
  )
  true
}
