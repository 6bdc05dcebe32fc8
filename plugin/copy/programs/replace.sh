# SPDX-License-Identifier: Apache-2.0
# After look.sh and checkpoint.sh.

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
# Lists, each with a NUL, ignored files in the place of which $NEW has others. All others are in $index.
list_in_the_way() {
  git diff-tree -r -z --name-only --no-renames --diff-filter=A "$(git write-tree)" "$NEW" | swap_ends |
    awk '{ print "f" $0; while (sub("/[^/]*$", "") && !seen[$0]++) print "d" $0 }' | while IFS= read -r name; do
    kind=${name%"${name#?}"} name=${name#?}
    [ ! -e "$name" ] && [ ! -L "$name" ] || { [ "$kind" = d ] && [ -d "$name" ] && [ ! -L "$name" ]; } ||
      printf '%s\n' "$name"
  done | swap_ends | xargs -0 -r git --literal-pathspecs ls-files -o -z --
}
# With STATE, NEW, HEAD_ID (the host's HEAD), PACK (its name), EXCLUDES and SHALLOW (ids). After an interruption, files
# of the earlier try are not in the index: add them, so that read-tree deletes them.
apply() {
  [ -z "$SHALLOW" ] || printf %s "$SHALLOW" >"$GIT_DIR/shallow" || return
  (cd "$GIT_DIR/objects/pack" && mv tmp_pack "$PACK.pack" && mv tmp_idx "$PACK.idx") || return
  export GIT_INDEX_FILE="$index"
  # work() has added them to its index.
  [ "$STATE" = ours ] || rm -f "$index"
  if [ "$STATE" = interrupted ]; then
    add_all || fail_or_full apply
    list_in_the_way | git update-index -z --add --stdin
  elif [ "$STATE" = ours ]; then
    # What was lent is the user's own.
    name=$(list_in_the_way | swap_ends | grep -vxF -e "$LENT" | head -n 1)
    [ -z "$name" ] || fail way "$name"
  fi
  [ "$STATE" = absent ] || (NOTE='before the next copy' && open_store && checkpoint) || exit
  echo "$NEW" >"$next" || return
  mkdir -p "$GIT_DIR/info" && printf %s "$EXCLUDES" >"$GIT_DIR/info/exclude" || return
  read -r current <"$GIT_DIR/HEAD"
  [ "$current" = "ref: refs/heads/$BRANCH" ] || git symbolic-ref HEAD "refs/heads/$BRANCH" || return
  clear_the_way
  git update-ref --stdin <<END || return
update HEAD $HEAD_ID
update refs/limactl-mcp/sent $NEW
END
  if [ "$NEW" != "$HEAD_ID" ]; then
    git read-tree --reset -u "$NEW" && git read-tree -m --index-output="$GIT_DIR/index" "$HEAD_ID"
  else
    git read-tree --reset -u --index-output="$GIT_DIR/index" "$NEW"
  fi
}
# Renames a directory. It never copies: that could end in the middle.
rename() {
  mkdir -p "${2%/*}" 2>/dev/null || sudo -n mkdir -p "${2%/*}" || fail rename
  [ "$(stat -c %d "$1")" = "$(stat -c %d "${2%/*}")" ] || fail device
  mv "$1" "$2" 2>/dev/null || { [ ! -e "$2" ] && sudo -n mv "$1" "$2"; } || fail rename
}
# With NAME: sets the copy aside.
set_aside() {
  [ ! -e "$aside/$NAME" ] || fail rename
  rename "$G" "$aside/$NAME"
}
# With NAME: puts what is set aside back to $G. Prints "state": ours (it is there), gone or occupied.
put_back() {
  state=gone
  if [ ! -d "$aside/$NAME" ]; then
    # Killed before the host knew that it was there again?
    [ ! -f "$copied" ] || [ "$(cat "$copied")" != "$ID" ] || state=ours
  elif [ -e "$G" ] || [ -L "$G" ]; then
    state=occupied
  else
    rename "$aside/$NAME" "$G"
    state=ours
  fi
  echo state "$state"
}
delete() {
  cd /
  rm -rf "$1" 2>/dev/null
  [ ! -e "$1" ] || { chmod -R u+rwX "$1" && rm -rf "$1"; } 2>/dev/null
  [ ! -e "$1" ] || sudo -n rm -rf "$1" 2>/dev/null
  [ ! -e "$1" ] || fail delete
}
