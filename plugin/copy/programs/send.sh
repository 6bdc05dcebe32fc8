# Set before: NEW (what is sent), HEAD_ID (the host's HEAD), BRANCH, FORMAT, CONFIG, SHALLOW (ids).
create() {
  mkdir -p "$GIT_DIR" 2>/dev/null || {
    sudo -n mkdir -p "$G" && sudo -n chown "$(id -u)" "$G" && mkdir "$GIT_DIR"
  } || fail directory
  # In this order: it counts as interrupted until the end.
  echo "$NEW" >"$next" || fail_or_full directory
  echo "$ID" >"$copied" || fail_or_full directory
  lock
  cd "$G" || fail directory
}
prepare() {
  { [ -e "$GIT_DIR/HEAD" ] || printf '%s' "$CONFIG" >"$GIT_DIR/config"; } &&
    git init -q --template= --object-format="$FORMAT"
}
# The host answers with the size and the name of the pack, and sends its two files. It waits after each, since
# some `head` read ahead.
receive() {
  # What a killed git left, also below refs/.
  find "$GIT_DIR" \( -name '*.lock' ! -path "$GIT_DIR/objects/*" -o -path "$GIT_DIR/objects/pack/tmp_*" \) \
    -exec rm -f {} +
  [ "$state" = ours ] || prepare || fail_or_full init
  [ -z "$SHALLOW" ] || printf '%s' "$SHALLOW" >"$GIT_DIR/shallow" || fail_or_full init
  pack=$GIT_DIR/objects/pack
  for kind in pack idx; do
    say ready
    read -r size name || exit 1
    needed=$((needed + size))
    head -c "$size" >"$pack/tmp_$kind" || fail_or_full pack
  done
  say received
  confirm sent
  mv "$pack/tmp_pack" "$pack/$name.pack" && mv "$pack/tmp_idx" "$pack/$name.idx"
}
# Files that are not in the index are added first, so that those that are gone on the host go.
apply() {
  echo "$NEW" >"$next" || return
  for left in "$GIT_DIR"/MERGE_* "$GIT_DIR"/*_HEAD "$GIT_DIR"/rebase-* "$GIT_DIR/sequencer"; do
    [ ! -e "$left" ] || rm -rf "$left"
  done
  read -r current <"$GIT_DIR/HEAD"
  [ "$current" = "ref: refs/heads/$BRANCH" ] || git symbolic-ref HEAD "refs/heads/$BRANCH" || return
  git update-ref --stdin <<END || return
update HEAD $HEAD_ID
update refs/limactl-mcp/sent $NEW
END
  export GIT_INDEX_FILE="$index"
  # work() has added them to its index.
  [ "$state" = ours ] || rm -f "$index"
  [ "$state" != interrupted ] || add_all 2>/dev/null
  if [ "$NEW" != "$HEAD_ID" ]; then
    git read-tree --reset -u "$NEW" && git read-tree -m --index-output="$GIT_DIR/index" "$HEAD_ID"
  else
    git read-tree --reset -u --index-output="$GIT_DIR/index" "$NEW"
  fi
}
# The host has to answer, so that no more is changed if it was killed.
confirm() {
  read -r answer || exit 1
  [ "$answer" = "$1" ] || exit 1
}

if [ "$state" = ours ]; then
  work
  count_files
fi
say decide
confirm send
if [ "$state" = absent ]; then
  create
fi
receive || fail_or_full pack
apply || fail_or_full apply
say applied
confirm applied
rm -f "$next"
say end
