# Makes a commit of the copy as it is, and reports its id, how many commits the host has not taken, how many
# of those are elsewhere (other branches, stashes), and how many sending BRANCH would lose.

# Puts back what differs from $1 and is a repository of its own.
leave_out_repositories() {
  names=$(git diff-index --cached --no-renames --raw "$1" |
    sed -n -e 's/^:160000 [^	]*	//p' -e 's/^:[0-7]* 160000 [^	]*	//p')
  [ "$names" ] || return 0
  printf '%s\n' "$names" | head -n 10 | while IFS= read -r name; do
    say link "$name"
  done
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
  commits=0 lost=0
  is_among "$head" "$DONE" || commits=$(count "${head:-$SENT}" --not)
  others=$(count --all --not "$work")
  [ "$others" = 0 ] || lost=$(count "refs/heads/$BRANCH" --not "$work" 2>/dev/null || echo 0)
  say work "$work" "$commits" "$others" "$lost"
}
# Reports how many files the host has not taken.
count_files() {
  ! is_among "$work" "$DONE" || return 0
  since=$SENT
  ! is_among "$TAKEN" "$known" || since=$TAKEN
  say files "$(git diff-tree -r --name-only --no-renames "$since" "$work" | grep -c '')"
}
