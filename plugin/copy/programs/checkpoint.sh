# SPDX-License-Identifier: Apache-2.0
# After look.sh. A checkpoint is a commit of the files, byte for byte, under refs/undo/NUMBER of a repository of its
# own, whose HEAD is what they are now. Its parents are what was sent and the copy's HEAD; its subject is "FROM FILES
# NOTE": the checkpoint before it (or 0), and how many files differ. The repository borrows the copy's objects, but
# packs all that what was sent has not, so that a git gc in the copy takes nothing from it. Only packs and refs count.
# refs/limactl-mcp of the copy have the last NUMBER, so that none is used twice, and hold all that was sent.

as_sent='as it was sent' most=100 most_kib=524288

# After this, git works in that repository.
open_store() {
  sent=$(git rev-parse -q --verify 'refs/limactl-mcp/sent^{commit}' || echo "$NEW")
  head=$(git rev-parse -q --verify 'HEAD^{commit}')
  [ "$head" != "$sent" ] || head=
  format=$(git rev-parse --show-object-format)
  copy=$GIT_DIR store=$GIT_DIR/limactl-mcp.undo
  [ ! -L "$store" ] || rm -f "$store"
  # Without the settings of the guest's user, which may convert files.
  export HOME="$store" XDG_CONFIG_HOME="$store" GIT_CONFIG_NOSYSTEM=1 GIT_DIR="$store" GIT_INDEX_FILE="$store/index"
  GIT_CONFIG_PARAMETERS="$GIT_CONFIG_PARAMETERS 'core.logAllRefUpdates=false' 'user.name=undo' 'user.email=undo@localhost'"
  # It fails, too, if a commit is gone.
  git for-each-ref --format='%(subject)' refs/undo >/dev/null 2>&1 || (
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    rm -rf "$store.new" "$store.old"
    [ ! -e "$store" ] || mv "$store" "$store.old"
    git init -q --bare --template= --object-format="$format" "$store.new" && mv "$store.new" "$store"
  ) || fail_or_full checkpoint
  find "$store" -name '*.lock' -exec rm -f {} +
  # Each time, since the agent may delete them.
  {
    mkdir -p "$store/info" "$store/objects/info" && echo "$copy/objects" >"$store/objects/info/alternates" &&
      ln -sf ../../info/exclude "$store/info/exclude" &&
      echo '* -text -ident -filter !working-tree-encoding' >"$store/info/attributes"
  } || fail_or_full checkpoint
  git ls-files >/dev/null 2>&1 || rm -f "$store/index"
}
# Prints the numbers, the lowest first; with $1, that of a commit.
numbers() {
  git for-each-ref --sort=version:refname --format='%(objectname) %(refname:lstrip=2)' refs/undo |
    sed -n "s/^${1-[^ ]*} //p"
}
number_as_sent() {
  git for-each-ref --sort=version:refname --format='%(refname:lstrip=2) %(subject)' refs/undo |
    sed -n "s/ [0-9]* [0-9]* $as_sent\$//p" | tail -n 1
}
# Whether all objects of a checkpoint are there.
is_whole() {
  git rev-list --objects --quiet "$1" "^$1^" 2>/dev/null
}
# Loose objects are packed, or of a run that was killed.
delete_loose() {
  rm -rf "$store"/objects/[0-9a-f][0-9a-f] "$store"/objects/pack/tmp_*
}
give_up() {
  report=$(fail_or_full checkpoint)
  delete_loose
  rm -f "$store/index"
  echo "$report"
  exit 1
}
# Packs $new without what the checkpoint $1 has.
pack_new() {
  printf '%s\n' "$new" "^$sent" ${1:+"^$1" "^$1^{tree}"} |
    git pack-objects --revs -q "$store/objects/pack/pack" >/dev/null
}
publish() {
  used=$(git --git-dir="$copy" for-each-ref --format='%(refname:lstrip=3)' refs/limactl-mcp/undo |
    grep -xE '[0-9]{1,9}' | sort -n | tail -n 1)
  number=$((${used:-0} + 1))
  printf '%s\n' "update refs/limactl-mcp/held/$sent $sent" "create refs/limactl-mcp/undo/$number $sent" \
    ${used:+"delete refs/limactl-mcp/undo/$used"} | git --git-dir="$copy" update-ref --stdin &&
    printf '%s\n' "create refs/undo/$number $new" "update HEAD $new" | git update-ref --no-deref --stdin
}
# With NOTE and STATE (of a send, or empty): makes one unless the files are as at HEAD. Sets now (its commit) and
# number. With RESCUE, it is whole. What a send replaces must all be in it; otherwise files that cannot be read stay
# as in the last one.
checkpoint() {
  now=$(git rev-parse -q --verify 'HEAD^{commit}')
  number=$(numbers "$now" | tail -n 1)
  if [ -z "$number" ] || { [ "$RESCUE" ] && ! is_whole "$now"; }; then
    now=
    rm -f "$store/index"
  fi
  { add_all && tree=$(git write-tree); } || {
    # The index names objects that a run had not packed when it was killed, or that the agent has deleted.
    rm -f "$store/index"
    add_all && tree=$(git write-tree)
  } || give_up
  [ -z "$problems" ] || require_space 1024
  kind=refused
  [ -z "$STATE" ] || kind=
  ! list_unadded | grep -q "^rest $kind" || fail unadded
  if [ "$now" ] && [ "$NOTE" != "$as_sent" ] && [ "$tree" = "$(git rev-parse "$now^{tree}")" ]; then
    delete_loose
    return
  fi
  files=$(git diff-tree -r --name-only --no-renames "${now:-$sent}" "$tree" | grep -c '')
  {
    new=$(git commit-tree -p "$sent" ${head:+-p "$head"} -m "${number:-0} $files $NOTE" "$tree") &&
      { pack_new "$now" || pack_new ''; } && publish
  } || give_up
  now=$new
  delete_loose
}
# After checkpoint(). Above the limits, the older half goes, but not what was sent, nor now.
thin() {
  count=$(numbers | grep -c '')
  [ "$count" -gt "$most" ] || [ "$(du -sk "$store/objects" | cut -f 1)" -gt "$most_kib" ] || return 0
  old=$(numbers | head -n "$((count / 2))" | grep -vx -e "$number" -e "$(number_as_sent)" | sed 's,^,delete refs/undo/,')
  [ "$old" ] && printf '%s\n' "$old" | git update-ref --stdin || return 0
  kept=$({
    git for-each-ref --format='%(objectname)' refs/undo
    git --git-dir="$copy" for-each-ref --format='^%(objectname)' refs/limactl-mcp/held
  } | git pack-objects --revs -q "$store/objects/pack/pack") || return 0
  find "$store/objects/pack" -type f ! -name "pack-$kept.*" -exec rm -f {} +
}
