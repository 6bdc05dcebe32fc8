# Set before each call: G (the copy's directory), ID (the project's), SENT and BASE (commits, or empty), DONE
# (commits that the host has taken, SENT and BASE among them), TAKEN (the last of them), BRANCH. They print
# reports: lines of words.

begin() {
  export LC_ALL=C GIT_DIR="$G/.git" GIT_WORK_TREE="$G" GIT_LFS_SKIP_SMUDGE=1 GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0
  unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE
  # As `git -c` does. A function `git` would cost a process more for each.
  export GIT_CONFIG_PARAMETERS="'core.hooksPath=/dev/null' 'hook.reference-transaction.enabled=false' \
'hook.post-index-change.enabled=false' 'core.fsmonitor=false' 'core.splitIndex=false' \
'core.sparseCheckout=false' 'core.bare=false' 'core.quotePath=false' 'gc.auto=0' \
'advice.addEmbeddedRepo=false'"
  copied=$GIT_DIR/limactl-mcp
  next=$copied.next
  index=$copied.index
  command -v git >/dev/null || fail git
  # One at a time, also one whose connection was lost.
  if [ -f "$copied" ]; then
    cd "$G" || fail gone
    if command -v flock >/dev/null; then
      exec 9>>"$copied"
      flock -w 60 9 || fail busy
    fi
  fi
}
fail() {
  echo fail "$*"
  exit 1
}
# Fails unless so many KiB are free.
require_space() {
  free=$(df -Pk "$G" 2>/dev/null | awk 'NR == 2 { print $4 }')
  [ "${free:-$1}" -ge "$1" ] || fail space "$((${NEEDED:-0} / 1000000 + 1))"
}
# What fails because less than 1 MiB is free is reported as that.
fail_or_full() {
  require_space 1024
  fail "$1"
}
# Whether one of the words $2 is $1.
is_among() {
  for word in $2; do
    [ "$word" != "$1" ] || return 0
  done
  return 1
}
# Reads the answer of cat-file for one object: its id, or nothing unless it is of this type.
read_id() {
  read -r id type || return
  [ "$type" = "$1" ] || id=
}
add_all() {
  git add -A --ignore-errors >/dev/null || [ $? = 1 ]
}

# What the directory is: absent, foreign, other (of another project), interrupted (while it was sent),
# damaged, or ours. With HAVE (lines: commits that the host has): those that are here.
look() {
  owner=
  known=
  if [ -f "$copied" ]; then
    IFS= read -r owner <"$copied"
  fi
  if [ "$owner" = "$ID" ]; then
    objects=$(git cat-file --batch-check='%(objectname) %(objecttype)' 2>/dev/null <<END
HEAD^{commit}
HEAD^{tree}
refs/limactl-mcp/sent^{commit}
$SENT^{commit}
$SENT^{tree}
$HAVE
END
    )
    {
      read_id commit && head=$id
      read_id tree && head_tree=$id
      read_id commit && old=$id
      read_id commit && sent=$id
      read_id tree && sent_tree=$id
      while read_id commit; do
        known="$known $id"
        [ -z "$id" ] || echo have "$id"
      done
    } <<END
$objects
END
    state=ours
    [ ! -e "$next" ] || [ "$(cat "$next")" != "$SENT" ] || rm -f "$next"
    if [ -e "$next" ]; then
      state=interrupted
    elif [ -z "$SENT" ]; then
      state=interrupted
      [ -z "$old" ] || state=foreign
    elif [ -z "$sent" ]; then
      state=damaged
    fi
  elif [ -n "$owner" ]; then
    state=other
  elif [ ! -e "$G" ] && [ ! -L "$G" ]; then
    state=absent
  elif [ -d "$G" ] && [ -z "$(find "$G" ! -path "$G" ! -path "$GIT_DIR" ! -path "$next" \
    ! \( -path "$copied" -size 0 \) | head -n 1)" ]; then
    # Empty, or with what prepare() has made, since the last one was killed.
    state=absent
  else
    state=foreign
  fi
  echo state "$state"
  [ "$state" != absent ] || git version
}

# Puts back what differs from $1 and is a repository of its own.
leave_out_repositories() {
  names=$(git diff-index --cached --no-renames --raw "$1" |
    sed -n -e 's/^:160000 [^	]*	//p' -e 's/^:[0-7]* 160000 [^	]*	//p')
  [ "$names" ] || return 0
  printf '%s\n' "$names" | head -n 10 | sed 's/^/link /'
  printf '%s\n' "$names" | GIT_LITERAL_PATHSPECS=1 git reset -q --pathspec-from-file=- "$1"
  tree=$(git write-tree) || fail_or_full add
}
commit_tree() {
  GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date \
    git "$@" commit-tree ${parent:+-p "$parent"} -m 'Uncommitted work' "$tree"
}
commit() {
  date="@$(git log -1 --no-show-signature --format=%cd --date=raw "${parent:-$SENT}")"
  # The agent may have changed who the copy's commits are from.
  work=$(commit_tree 2>/dev/null) ||
    work=$(commit_tree -c user.name=agent -c user.email=agent@localhost) || fail_or_full add
}
# Of the revisions in the arguments, without those that were taken.
count() {
  # shellcheck disable=SC2086
  git rev-list --ignore-missing --count "$@" $DONE
}
# Makes a commit of the copy as it is. Says its id, how many commits the host has not taken, how many of
# those are elsewhere (other branches, stashes), how many sending BRANCH would lose, and how many files the
# host has not taken.
work() {
  [ "$head" ] || [ "$(git symbolic-ref -q HEAD)" ] || fail damaged
  export GIT_INDEX_FILE="$index"
  [ ! -e "$index.lock" ] || rm -f "$index.lock"
  # With its time: git decides by it whether a file of the same size may have changed.
  { cp -p "$GIT_DIR/index" "$index" && add_all; } 2>/dev/null || {
    rm -f "$index"
    git read-tree "${head:-$SENT}" || fail damaged
    add_all || fail_or_full add
  }
  # Also what the host sent although it is ignored.
  [ "$SENT" = "$BASE" ] || git diff-tree -r -z --name-only --diff-filter=A --no-renames "$BASE" "$SENT" |
    git update-index -z --add --remove --stdin
  tree=$(git write-tree) || fail_or_full add
  parent=$head parent_tree=$head_tree
  [ "$head" != "$BASE" ] || parent=$SENT parent_tree=$sent_tree
  work=$parent
  [ "$tree" = "$parent_tree" ] || leave_out_repositories "${parent:-$SENT}"
  [ "$tree" = "$parent_tree" ] || commit
  unset GIT_INDEX_FILE
  commits=0 lost=0 files=0
  is_among "$head" "$DONE" || commits=$(count "${head:-$SENT}" --not)
  others=$(count --all --not "$work")
  [ "$others" = 0 ] || lost=$(count "refs/heads/$BRANCH" --not "$work" 2>/dev/null || echo 0)
  is_among "$work" "$DONE" || {
    since=$SENT
    ! is_among "$TAKEN" "$known" || since=$TAKEN
    files=$(git diff-tree -r --name-only --no-renames "$since" "$work" | grep -c '')
  }
  echo work "$work" "$commits" "$others" "$lost" "$files"
}

# With REVISIONS (lines): prints a pack.
pack() {
  printf %s "$REVISIONS" | git pack-objects --revs --stdout --thin --delta-base-offset --progress
}
