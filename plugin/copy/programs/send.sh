# Set before: NEW (what is sent), HEAD_ID (the host's HEAD), BRANCH, FORMAT, NAME and MAIL, SHALLOW (ids).

# What fails because the disk is full is reported as that.
fail_or_full() {
  ! full "$G" || fail space
  fail "$1"
}
create() {
  mkdir -p "$GIT_DIR" 2>/dev/null || {
    sudo -n mkdir -p "$G" && sudo -n chown "$(id -u)" "$G" && mkdir "$GIT_DIR"
  } || fail directory
  # In this order: it counts as interrupted until the end.
  echo "$NEW" >"$next" || fail_or_full directory
  echo "$ID" >"$copied" || fail_or_full directory
  cd "$G" || fail directory
}
prepare() {
  git init -q --template= --object-format="$FORMAT" && git config core.bare false &&
    git config gc.auto 0 && git config commit.gpgSign false && git config user.name "$NAME" &&
    git config user.email "$MAIL"
}
receive() {
  # What a killed git left, also below refs/.
  find "$GIT_DIR" -name '*.lock' ! -path "$GIT_DIR/objects/*" -exec rm -f {} +
  rm -f "$GIT_DIR"/objects/pack/tmp_*
  [ "$state" = ours ] || prepare || fail_or_full init
  [ -z "$SHALLOW" ] || printf '%s' "$SHALLOW" >"$GIT_DIR/shallow" || fail_or_full init
  say ready
  git index-pack --stdin --fix-thin >/dev/null || {
    reason=pack
    ! full "$G" || reason=space
    rm -f "$GIT_DIR"/objects/pack/tmp_*
    fail "$reason"
  }
}
# Files that are not in the index are added first, so that those that are gone on the host go.
apply() {
  echo "$NEW" >"$next" || return
  git symbolic-ref HEAD "refs/heads/$BRANCH" || return
  git update-ref HEAD "$HEAD_ID" || return
  rm -rf "$GIT_DIR"/MERGE_* "$GIT_DIR"/*_HEAD "$GIT_DIR"/rebase-merge "$GIT_DIR"/rebase-apply "$GIT_DIR"/sequencer
  git add -A --ignore-errors >/dev/null 2>&1
  git read-tree --reset -u "$NEW" || return
  git read-tree -m "$HEAD_ID" || return
  git update-index -q --refresh >/dev/null
  git update-ref refs/limactl-mcp/sent "$NEW"
}
# The host has to answer, so that no more is changed if it was killed.
confirm() {
  read -r answer || exit 1
  [ "$answer" = "$1" ] || exit 1
}

if [ "$state" = ours ]; then
  work
fi
say decide
confirm send
if [ "$state" = absent ]; then
  create
fi
receive
apply || fail_or_full apply
say applied
confirm applied
rm -f "$next"
say end
