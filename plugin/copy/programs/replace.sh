# SPDX-License-Identifier: Apache-2.0
# After look.sh.

# With STATE (of look()), NEW (the commit that is sent), FORMAT, CONFIG and NEEDED (the pack's bytes): makes
# the directory ready for a pack in tmp_pack and tmp_idx.
prepare() {
  if [ "$STATE" = absent ]; then
    mkdir -p "$GIT_DIR" 2>/dev/null || {
      sudo -n mkdir -p "$G" && sudo -n chown "$(id -u)" "$G" && mkdir "$GIT_DIR"
    } || fail directory
    # In this order: it counts as interrupted until the end.
    echo "$NEW" >"$next" || fail_or_full directory
    echo "$ID" >"$copied" || fail_or_full directory
  fi
  require_space "$((NEEDED / 1024 + 1024))"
  # Leftovers of a killed git, also below refs/.
  find "$GIT_DIR" \( -name '*.lock' ! -path "$GIT_DIR/objects/*" -o -path "$GIT_DIR/objects/*/tmp_*" \) \
    -exec rm -f {} +
  [ "$STATE" != ours ] || return 0
  [ -e "$GIT_DIR/HEAD" ] || printf %s "$CONFIG" >"$GIT_DIR/config" || fail_or_full init
  git init -q --template= --object-format="$FORMAT" || fail_or_full init
}
# Renames branches of the copy that $BRANCH cannot stand beside: one is the directory of the other.
clear_the_way() {
  git for-each-ref --format='%(refname) %(objectname)' refs/heads | while read -r ref id; do
    case "$ref refs/heads/$BRANCH" in
      "refs/heads/$BRANCH/"*' '* | *" $ref/"*)
        other=$(printf %s "${ref#refs/heads/}" | tr / -)-earlier
        git update-ref "refs/heads/$other" "$id" && git update-ref -d "$ref"
        ;;
    esac
  done
}
# Keeps what was made in the copy since a send that was interrupted, on a branch: the files of $index that
# are in none of the commits $1, or all if there is none.
keep_found() {
  tree=$(git write-tree) || return 0
  commits=$(for commit in $1; do git rev-parse -q --verify "$commit^{commit}"; done | sort -u)
  # shellcheck disable=SC2086
  set -- ${commits:-$(git hash-object -t tree /dev/null)}
  found=$(for commit; do
    git diff-tree -r --name-only --no-renames --diff-filter=d "$commit" "$tree"
  done | sort | uniq -c | awk -v all=$# '$1 == all' | head -n 1)
  [ "$found" ] || return 0
  parent=${commits%%
*} SENT=$parent
  [ "$parent" ] || date=@0
  commit && git update-ref "refs/heads/found-$(git rev-parse --short "$work")" "$work" &&
    echo found "found-$(git rev-parse --short "$work")"
}
# With STATE, NEW, HEAD_ID (the host's HEAD), PACK (its name), EXCLUDES and SHALLOW (ids). After an interruption, files
# of the earlier try are not in the index: add them, so that read-tree deletes them.
apply() {
  mkdir -p "$GIT_DIR/info" && printf %s "$EXCLUDES" >"$GIT_DIR/info/exclude" || return
  [ -z "$SHALLOW" ] || printf %s "$SHALLOW" >"$GIT_DIR/shallow" || return
  (cd "$GIT_DIR/objects/pack" && mv tmp_pack "$PACK.pack" && mv tmp_idx "$PACK.idx") || return
  interrupted=$(cat "$next" 2>/dev/null)
  echo "$NEW" >"$next" || return
  for left in "$GIT_DIR"/MERGE_* "$GIT_DIR"/*_HEAD "$GIT_DIR"/rebase-* "$GIT_DIR/sequencer"; do
    [ ! -e "$left" ] || rm -rf "$left"
  done
  read -r current <"$GIT_DIR/HEAD"
  [ "$current" = "ref: refs/heads/$BRANCH" ] || git symbolic-ref HEAD "refs/heads/$BRANCH" || return
  clear_the_way
  git update-ref --stdin <<END || return
update HEAD $HEAD_ID
update refs/limactl-mcp/sent $NEW
END
  export GIT_INDEX_FILE="$index"
  # work() has added them to its index.
  [ "$STATE" = ours ] || rm -f "$index"
  [ "$STATE" != interrupted ] || {
    add_all 2>/dev/null
    keep_found "$interrupted $DONE"
  }
  if [ "$NEW" != "$HEAD_ID" ]; then
    git read-tree --reset -u "$NEW" && git read-tree -m --index-output="$GIT_DIR/index" "$HEAD_ID"
  else
    git read-tree --reset -u --index-output="$GIT_DIR/index" "$NEW"
  fi
}
drop() {
  cd /
  rm -rf "$G" 2>/dev/null
  [ ! -e "$G" ] || { chmod -R u+rwX "$G" && rm -rf "$G"; } 2>/dev/null
  [ ! -e "$G" ] || sudo -n rm -rf "$G" 2>/dev/null
  [ ! -e "$G" ] || fail drop
}
