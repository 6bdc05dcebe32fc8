# SPDX-License-Identifier: Apache-2.0
# After look.sh: the work in the copy that the host has not.

# git in a repository inside of the copy.
git_in() (
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  directory=$1
  shift
  git -C "$directory" "$@"
)
# Puts the NUL that ends each name in the place of the line feed, or back.
swap_ends() {
  tr '\n\0' '\0\n'
}
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
  # The agent may have changed who the copy's commits are from.
  work=$(commit_tree 2>/dev/null) ||
    work=$(commit_tree -c user.name=agent -c user.email=agent@localhost) || fail_or_full add
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
# $work nor the host has, and "rest tag NAME" for each message of a tag that is younger than the copy. What was
# fetched is no work.
list_refs() {
  made=$(stat -c %Y "$copied")
  git for-each-ref --format='%(objecttype) %(taggerdate:unix) %(refname)' refs/tags | while read -r type date ref; do
    [ "$type" != tag ] || [ "$date" -lt "$made" ] || [ -z "$(git rev-list -n 1 "$ref" --not --remotes)" ] ||
      echo rest tag "${ref#refs/}"
  done
  stashes=
  [ ! -e "$GIT_DIR/logs/refs/stash" ] || stashes=$(git rev-list -g refs/stash -- 2>/dev/null)
  refs=$({
    git for-each-ref --format='%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end) %(refname)' |
      grep -Ev ' refs/(remotes|prefetch|limactl-mcp)/| refs/stash$'
    for stash in $stashes; do
      echo "$stash" refs/stash-$((number += 1))
    done
    [ ! -e "$GIT_DIR/worktrees" ] || git worktree list --porcelain | awk '
      $1 == "worktree" { name = $0; gsub(/.*\//, "", name); gsub(/[^A-Za-z0-9._-]/, "-", name)
                          if (seen[name]++) name = name "-" seen[name] }
      $1 == "HEAD" { print $2, "refs/worktree-" name }'
  } | while read -r id ref; do is_among "$id" "$work $DONE" || echo "$id $ref"; done)
  [ "$refs" ] || return 0
  # shellcheck disable=SC2086
  {
    git rev-list --ignore-missing --exclude='refs/remotes/*' --exclude='refs/prefetch/*' \
      --exclude='refs/tags/*' --exclude='refs/limactl-mcp/*' --all $stashes --not "$work" $DONE
    git rev-list --ignore-missing --tags --not --remotes "$work" $DONE
    printf '%s\n' "$refs"
  } | awk 'NF == 1 { untaken[$1]; next } $1 in untaken && !seen[$1]++ { print "ref", $0 }'
}

# Whether a repository has commits that were neither fetched nor sent.
has_commits() {
  # shellcheck disable=SC2086
  [ "$("$@" rev-list --ignore-missing -n 1 --exclude='refs/tags/*' --all HEAD \
    --not --remotes $submodules 2>&1)" ]
}
has_changes() {
  [ "$({
    git_in "$1" status --porcelain --untracked-files=normal --ignore-submodules=none
    git_in "$1" ls-files -v | grep '^[a-zS]' | while IFS= read -r name; do
      [ "${name%% *}" = S ] && [ ! -e "$1/${name#S }" ] || echo "$name"
    done
  } 2>&1 | head -n 1)" ]
}
# Whether $1 is another working tree of the copy's repository.
is_worktree() {
  # shellcheck disable=SC3013 # All shells have -ef.
  [ -f "$1/.git" ] && [ "$(git_in "$1" rev-parse --git-common-dir 2>/dev/null)" -ef "$GIT_DIR" ]
}
# Prints "rest KIND NAME" for all work that `take` cannot bring: in other repositories and working trees.
list_rest() {
  printf '%s\n' "$odd" | sed -n 's,^? \(.*\)/$,\1,p' | while IFS= read -r name; do
    is_worktree "$name" || echo rest repository "$name"
  done
  links=$(names_of_odd '. 160000')
  if [ "$links" ] || [ -e "$GIT_DIR/modules" ]; then
    list_submodules
  fi
  # shellcheck disable=SC3013
  [ ! -e "$GIT_DIR/worktrees" ] ||
    git worktree list --porcelain | sed -n 's/^worktree //p' | while IFS= read -r name; do
      [ ! -d "$name" ] || [ "$name" -ef "$G" ] || ! has_changes "$name" || echo rest worktree "$name"
    done
}
list_submodules() {
  sent_links=$(git ls-tree -r -z "$SENT" | swap_ends | sed -n 's/^160000 commit //p')
  submodules=$(printf '%s\n' "$sent_links" | sed 's/	.*//')
  printf '%s\n' "$links" | while IFS= read -r name; do
    if [ -z "$name" ] || is_worktree "$name"; then
      continue
    elif [ ! -e "$name/.git" ]; then
      [ ! -e "$name" ] || [ -z "$(ls -A "$name")" ] || echo rest files "$name"
    elif ! printf '%s\n' "$sent_links" | sed 's/^[^	]*	//' | grep -Fxq -e "$name"; then
      echo rest repository "$name"
    else
      ! has_commits git_in "$name" || echo rest commits "$name"
      ! has_changes "$name" || echo rest files "$name"
    fi
  done
  # Submodules that are no longer checked out.
  [ ! -e "$GIT_DIR/modules" ] || find "$GIT_DIR/modules" -type f -name HEAD | while IFS= read -r name; do
    name=${name%/HEAD}
    [ ! -d "$name/objects" ] || [ -e "$name/$(git config -f "$name/config" core.worktree)/.git" ] ||
      ! has_commits git --git-dir="$name" || echo rest commits "$name"
  done
}

# With REVISIONS (lines): prints a pack.
pack() {
  printf %s "$REVISIONS" | git pack-objects --revs --stdout --delta-base-offset --progress
}
