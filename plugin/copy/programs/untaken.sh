# SPDX-License-Identifier: Apache-2.0
# After look.sh: the work in the copy that the host has not.

# Lists all but plain files that git watches: "TAG MODE ID STAGE NAME" of the index with a lower-case tag or S
# (not watched) or mode 160000 (another repository), and "? NAME/" (a repository that is not added).
find_odd() {
  odd=$(git ls-files -c -o -s -v -z --exclude-standard | swap_ends | grep -E '^([a-zS]|. 160000) |^\? .*/$')
}
names_of_odd() {
  printf '%s\n' "$odd" | sed -n "s/^$1 [^	]*	//p"
}
# Also files that the index is told not to watch are work, unless they are missing because of a sparse
# checkout.
watch_all() {
  find_odd
  names=$(names_of_odd '[a-z]')
  [ -z "$names" ] || printf '%s\n' "$names" | swap_ends | git update-index -z --no-assume-unchanged --stdin
  names=$(names_of_odd '[sS]')
  # shellcheck disable=SC2016
  [ -z "$names" ] || printf '%s\n' "$names" | swap_ends | xargs -0 sh -c '
    for name; do
      [ ! -e "$name" ] && [ ! -L "$name" ] || printf "%s\0" "$name"
    done' sh | git update-index -z --no-skip-worktree --stdin
}
# Puts back what differs from $1 and is a repository of its own.
leave_out_repositories() {
  names=$(git diff-index --cached --no-renames --raw "$1" |
    sed -n -e 's/^:160000 [^	]*	//p' -e 's/^:[0-7]* 160000 [^	]*	//p')
  [ "$names" ] || return 0
  printf '%s\n' "$names" | GIT_LITERAL_PATHSPECS=1 git reset -q --pathspec-from-file=- "$1"
  tree=$(git write-tree) || fail_or_full add
}
commit_tree() {
  GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date \
    git "$@" commit-tree ${parent:+-p "$parent"} -m 'Uncommitted work' "$tree"
}
commit() {
  [ -z "${parent:-$SENT}" ] || date="@$(git log -1 --no-show-signature --format=%cd --date=raw "${parent:-$SENT}")"
  # The agent may have changed who the copy's commits are from, and HEAD may have an invalid date.
  work=$(commit_tree 2>/dev/null) || {
    set -- -c user.name=agent -c user.email=agent@localhost
    work=$(commit_tree "$@" 2>/dev/null) || { date='@0 +0000' && work=$(commit_tree "$@"); } || fail_or_full add
  }
}
# Makes a commit of the copy as it is. Prints its id, how many commits of HEAD and how many files the host has
# not taken, and HEAD's branch; then what else it has not taken.
work() {
  [ "$head" ] || [ "$(git symbolic-ref -q HEAD)" ] || fail damaged
  export GIT_INDEX_FILE="$index"
  [ ! -e "$index.lock" ] || rm -f "$index.lock"
  # With its time: git decides by it whether a file of the same size may have changed.
  { cp -p "$GIT_DIR/index" "$index" && watch_all && add_all; } 2>/dev/null || {
    rm -f "$index"
    git read-tree "${head:-$SENT}" || fail damaged
    find_odd
    add_all || fail_or_full add
  }
  # Also ignored files that the host sent.
  [ "$SENT" = "$BASE" ] || git diff-tree -r -z --name-only --diff-filter=A --no-renames "$BASE" "$SENT" |
    git update-index -z --add --remove --stdin
  list_unadded
  list_rest
  tree=$(git write-tree) || fail_or_full add
  parent=$head parent_tree=$head_tree
  [ "$head" != "$BASE" ] || parent=$SENT parent_tree=$sent_tree
  work=$parent
  [ "$tree" = "$parent_tree" ] || leave_out_repositories "${parent:-$SENT}"
  [ "$tree" = "$parent_tree" ] || commit
  unset GIT_INDEX_FILE
  commits=0 files=0
  # shellcheck disable=SC2086
  is_among "$head" "$DONE" || commits=$(git rev-list --ignore-missing --count "${head:-$SENT}" --not $DONE)
  is_among "$work" "$DONE" || {
    since=$SENT
    ! is_among "$TAKEN" "$known" || since=$TAKEN
    files=$(git diff-tree -r --name-only --no-renames "$since" "$work" | grep -c '')
  }
  echo work "$work" "$commits" "$files"
  echo head "$(git symbolic-ref -q HEAD || echo detached)"
  list_refs
}

# Prints "ref ID NAME" for each branch, tag, stash and HEAD of another working tree with commits that neither
# $work nor the host has, and "note refs NAME" for other refs and tags of no commit. What was fetched is no work.
list_refs() {
  {
    git for-each-ref --format='%(objecttype)%(*objecttype) note refs %(refname)' refs/tags |
      sed -n -e '/^commit /d' -e '/^tagcommit /d' -e 's/^[a-z]* //p'
    git for-each-ref --format='note refs %(refname)' |
      grep -Ev '^note refs refs/((heads|tags|remotes|prefetch|limactl-mcp)/|stash$)'
  } | head -n 100
  stashes=
  [ ! -e "$GIT_DIR/logs/refs/stash" ] || stashes=$(git rev-list -g refs/stash -- 2>/dev/null)
  autostash=$(cd "$GIT_DIR" && cat rebase-merge/autostash rebase-apply/autostash MERGE_AUTOSTASH 2>/dev/null)
  refs=$({
    git for-each-ref --format='%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end) %(refname)' \
      refs/heads refs/tags
    for stash in $stashes; do
      echo "$stash" refs/stash-$((number += 1))
    done
    for stash in $autostash; do
      echo "$stash" refs/stash-auto
    done
    [ ! -e "$GIT_DIR/worktrees" ] || git worktree list --porcelain | awk '
      $1 == "worktree" { name = $0; gsub(/.*\//, "", name); gsub(/[^A-Za-z0-9._-]/, "-", name)
                          if (seen[name]++) name = name "-" seen[name] }
      $1 == "HEAD" { print $2, "refs/worktree-" name }'
  } | while read -r id ref; do is_among "$id" "$work $DONE" || echo "$id $ref"; done)
  [ "$refs" ] || return 0
  # shellcheck disable=SC2086
  {
    git rev-list --ignore-missing --exclude='refs/[!h]*' --all $stashes $autostash --not "$work" $DONE
    git rev-list --ignore-missing --tags --not --remotes "$work" $DONE
    printf '%s\n' "$refs"
  } | awk 'NF == 1 { untaken[$1]; next } $1 in untaken && !seen[$1]++ { print "ref", $0 }'
}

# Whether $1 is another working tree of the copy's repository.
is_worktree() (
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  # shellcheck disable=SC3013 # All shells have -ef.
  [ -f "$1/.git" ] && [ "$(git -C "$1" rev-parse --git-common-dir 2>/dev/null)" -ef "$G/.git" ]
)
# Prints "rest KIND NAME", once each, for where work may be that `take` cannot bring: unfinished operations, other
# repositories and working trees, objects of git LFS.
list_rest() {
  for each in rebase-merge=rebase rebase-apply/applying=am rebase-apply=rebase MERGE_HEAD=merge \
    CHERRY_PICK_HEAD=cherry-pick REVERT_HEAD=revert 'sequencer=cherry-pick or revert' BISECT_LOG=bisect; do
    [ -e "$GIT_DIR/${each%%=*}" ] || continue
    echo rest operation "unfinished git ${each#*=}"
    break
  done
  {
    names_of_odd '. 160000'
    printf '%s\n' "$odd" | sed -n 's,^? \(.*\)/$,\1,p'
  } | while IFS= read -r name; do
    [ -z "$(ls -A "$name" 2>/dev/null)" ] || is_worktree "$name" || echo rest repository "$name"
  done
  # shellcheck disable=SC3013
  [ ! -e "$GIT_DIR/worktrees" ] ||
    git worktree list --porcelain | sed -n 's/^worktree //p' | while IFS= read -r name; do
      [ ! -d "$name" ] || [ "$name" -ef "$G" ] || echo rest worktree "$name"
    done
  objects=$(find "$GIT_DIR/lfs/objects" -type f 2>/dev/null | grep -c '')
  [ "$objects" = 0 ] || echo rest lfs "git LFS objects ($objects)"
}

# With REVISIONS (lines): prints a pack.
pack() {
  printf %s "$REVISIONS" | git pack-objects --revs --stdout --delta-base-offset --progress
}
