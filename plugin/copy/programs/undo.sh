# SPDX-License-Identifier: Apache-2.0
# After look.sh and checkpoint.sh.

# Prints "checkpoint NUMBER TIME ID FROM FILES NOTE", the newest first.
list_checkpoints() {
  git for-each-ref --sort=-version:refname --count=200 \
    --format='checkpoint %(refname:lstrip=2) %(committerdate:unix) %(objectname) %(subject)' refs/undo
}
# After checkpoint(): prints its number, and all.
log() {
  echo now "$number"
  list_checkpoints
}
# Sets target to the number that N means: 0 is as it was sent, none the state before the present one.
find_target() {
  target=$N
  [ "$N" != 0 ] || target=$(number_as_sent)
  [ -z "$N" ] || return 0
  target=$(git log -1 --format=%s "$now" | cut -d ' ' -f 1)
  git rev-parse -q --verify "refs/undo/$target" >/dev/null ||
    target=$(numbers | awk -v now="$number" '$1 < now' | tail -n 1)
}
# Fails unless the disk has room for what differs.
require_room() {
  NEEDED=$(git diff-tree -r --raw --no-abbrev --no-renames --diff-filter=d "$now" "$there" | cut -d ' ' -f 4 |
    git cat-file --batch-check='%(objectsize)' | awk 'NF == 1 { bytes += $1 + 4096 } END { printf "%.0f", bytes }')
  require_space "$((NEEDED / 1024 + 1024))"
}
# With N: puts the files back as at a checkpoint. Prints "undone FILES BEFORE", then as log(). Before it writes, git
# looks at every file: it refuses if one was changed since the checkpoint of now, or if one that is in no checkpoint
# stands in the way. Killed in the middle, or out of space, the same again first makes a checkpoint of the mixture.
undo() {
  NOTE="before undo${N:+ $N}" RESCUE=1 tries=3
  checkpoint
  find_target
  there=$(git rev-parse -q --verify "refs/undo/$target") ||
    fail unknown "${N:+checkpoint #}${N:-earlier checkpoint}"
  is_whole "$there" || fail lost "$target"
  files=$(git diff-tree -r --name-only --no-renames "$now" "$there" | grep -c '')
  require_room
  until [ "$files" = 0 ] || problem=$(git checkout -q --detach --no-overwrite-ignore "$there" 2>&1); do
    name=$(printf '%s\n' "$problem" | sed -n 's/^	//p' | head -n 1)
    case $problem in
      *'local changes'*)
        [ $((tries -= 1)) -gt 0 ] || fail changing "$name"
        checkpoint
        ;;
      *)
        [ -z "$name" ] || fail way "$name"
        printf '%s\n' "$problem" >&2
        fail_or_full undo
        ;;
    esac
  done
  echo undone "$files" "$number"
  echo now "$target"
  list_checkpoints
}
