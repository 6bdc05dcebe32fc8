# Every program begins with this. Set before: marker, G (the copy's directory), ID (the project's), SENT,
# BASE, TAKEN (ids, or empty), HAVE (ids that the host has). Reports are lines that begin with the marker.
export LC_ALL=C GIT_DIR="$G/.git" GIT_WORK_TREE="$G" GIT_LFS_SKIP_SMUDGE=1 GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0
unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE
copied=$GIT_DIR/limactl-mcp
next=$GIT_DIR/limactl-mcp.next
say() {
  printf '%s %s\n' "$marker" "$*"
}
fail() {
  say fail "$*"
  exit 1
}
git() {
  command git -c core.hooksPath=/dev/null -c hook.reference-transaction.enabled=false \
    -c hook.post-index-change.enabled=false -c core.fsmonitor=false -c core.splitIndex=false \
    -c core.sparseCheckout=false -c core.bare=false -c gc.auto=0 -c commit.gpgSign=false "$@"
}
commit() {
  git rev-parse -q --verify "$1^{commit}" 2>/dev/null
}
# Less than 1 MiB is free.
full() {
  free=$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')
  [ "${free:-9999}" -lt 1024 ]
}
command -v git >/dev/null || fail git none
say git "$(command git version)"

# What the directory is: absent, foreign, other (of another project), interrupted (while it was sent),
# damaged, or ours.
owner=
if [ -f "$copied" ]; then
  IFS= read -r owner <"$copied"
fi
if [ "$owner" = "$ID" ]; then
  # One program at a time, also one whose connection was lost.
  if command -v flock >/dev/null; then
    exec 9>>"$copied"
    flock -w 60 9 || fail busy
  fi
  cd "$G" || fail gone
  state=ours
  [ ! -e "$next" ] || [ "$(cat "$next")" != "$SENT" ] || rm -f "$next"
  if [ -e "$next" ]; then
    state=interrupted
  elif [ -z "$SENT" ]; then
    state=interrupted
    [ -z "$(commit refs/limactl-mcp/sent)" ] || state=foreign
  elif [ -z "$(commit "$SENT")" ]; then
    state=damaged
  fi
elif [ -n "$owner" ]; then
  state=other
elif [ ! -e "$G" ] && [ ! -L "$G" ]; then
  state=absent
elif [ -d "$G" ] && [ -z "$(find "$G" ! -path "$G" ! -path "$GIT_DIR" ! -path "$next" \
  ! \( -path "$copied" -size 0 \) | head -n 1)" ]; then
  # Empty, or with what create() has made, since the last program was killed.
  state=absent
else
  state=foreign
fi
say state "$state"
known=$(printf '%s\n' "$HAVE" | git cat-file --batch-check='%(objectname)' 2>/dev/null | grep -v ' missing$')
for id in $known; do
  say have "$id"
done
