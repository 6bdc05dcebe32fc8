# Makes a commit of the copy as it is, and reports its id, how many commits and files the host has not
# taken, how many commits are elsewhere (other branches, stashes), and how many sending BRANCH would lose.
links() {
  git diff-index --cached --no-renames --raw -z "$1" | tr '\n\0' '?\n' |
    awk '/^:/ && NR % 2 { link = / 160000 |^:160000 /; next } link' >"$scratch/links"
  [ -s "$scratch/links" ] || return 0
  head -n 10 "$scratch/links" | while IFS= read -r name; do
    say link "$name"
  done
  tr '\n' '\0' <"$scratch/links" | GIT_LITERAL_PATHSPECS=1 git reset -q --pathspec-from-file=- --pathspec-file-nul "$1"
}
work() {
  head=$(commit HEAD)
  [ "$head" ] || [ "$(git symbolic-ref -q HEAD)" ] || fail damaged
  scratch=$(mktemp -d) || fail space
  trap 'rm -rf "$scratch"' EXIT
  export GIT_INDEX_FILE="$scratch/index"
  # With its time: git decides by it whether a file of the same size may have changed.
  { cp -p "$GIT_DIR/index" "$scratch/index" && git ls-files >/dev/null; } 2>/dev/null || {
    rm -f "$scratch/index"
    git read-tree "${head:-$SENT}" || fail damaged
  }
  git -c advice.addEmbeddedRepo=false add -A --ignore-errors >/dev/null || [ $? = 1 ] || fail add
  # Also what the host sent although it is ignored.
  git diff-tree -r -z --name-only --diff-filter=A --no-renames "$BASE" "$SENT" |
    git update-index -z --add --remove --stdin
  links "${head:-$SENT}"
  tree=$(git write-tree) || fail add
  parent=$head
  [ "$head" != "$BASE" ] || parent=$SENT
  work=$parent
  if [ -z "$parent" ] || [ "$tree" != "$(git rev-parse -q --verify "$parent^{tree}")" ]; then
    date=$(git cat-file commit "${parent:-$SENT}" | sed -n 's/^committer .*> \([0-9]* [-+][0-9]*\)$/@\1/p' | head -n 1)
    name=$(git config user.name || echo limactl-mcp)
    mail=$(git config user.email || echo limactl-mcp@localhost)
    work=$(GIT_AUTHOR_NAME=$name GIT_COMMITTER_NAME=$name GIT_AUTHOR_EMAIL=$mail GIT_COMMITTER_EMAIL=$mail \
      GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date \
      git commit-tree ${parent:+-p "$parent"} -m 'Uncommitted work' "$tree") || fail add
  fi
  unset GIT_INDEX_FILE
  since=$SENT
  [ -z "$(commit "${TAKEN:-none}")" ] || since=$TAKEN
  base=$(commit "$BASE")
  say work "$work" \
    "$(git rev-list --count "${head:-$SENT}" --not "$SENT" "$since" ${base:+"$base"})" \
    "$(git diff-tree -r --name-only --no-renames "$since" "$work" | grep -c '')" \
    "$(git rev-list --count --all --not "$work" "$SENT" "$since" ${base:+"$base"})" \
    "$(git rev-list --count "refs/heads/$BRANCH" --not "$work" "$SENT" "$since" ${base:+"$base"} 2>/dev/null || echo 0)"
}
