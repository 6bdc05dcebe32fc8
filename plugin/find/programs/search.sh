# Follows git.sh. The functions after begin_search search the working directory and exit.

# begin_search DIRECTORY: status 98 if it cannot be entered, or is a link now.
begin_search() {
  set_git_environment
  cd -P -- "$1" && [ "$PWD" = "$1" ] || exit 98
}

git_grep() {
  plain_git grep --no-index --null --line-number -H -I --no-color --no-column --no-heading --no-break \
    --no-full-name --no-textconv "$@"
}

# search_with_git FILTER ARGUMENT…: FILTER is --exclude-standard or --no-exclude-standard. Status 97: there
# is no git.
search_with_git() {
  command -v git >/dev/null 2>&1 || exit 97
  # The top of a repository is never ignored, though git says so if a "*" is.
  if [ "$1" = --no-exclude-standard ] || [ -f .git ] || [ -f .git/HEAD ]; then
    replace='exec'
  fi
  git_grep "$@"
  status=$?
  if [ "$status" = 1 ] && plain_git check-ignore --no-index -q . 2>/dev/null; then
    shift
    replace='exec'
    git_grep --no-exclude-standard "$@"
  fi
  exit "$status"
}

# search_with_grep NULL ARGUMENT…: searches what the function `files` prints. If NULL is --null, prints NUL
# behind a name; BusyBox cannot. In the C locale, so that a file of another encoding does not count as
# binary.
search_with_grep() {
  export LC_ALL=C
  unset GREP_OPTIONS
  null=$1
  shift
  [ -z "$null" ] || echo x | grep "$null" -e x >/dev/null 2>&1 || null=
  echo | grep "$@" >/dev/null || [ $? = 1 ] || exit 2
  files | sort -z | xargs -0 grep -nHI ${null:+"$null"} "$@" --
  exit 0
}
