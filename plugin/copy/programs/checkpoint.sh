# SPDX-License-Identifier: Apache-2.0
# After look.sh. A checkpoint is a commit of the files as they are, with what was sent and HEAD as its parents, under
# refs/undo/NUMBER of a repository of its own. That borrows the copy's objects, but packs all that only a checkpoint
# has, so that a git gc in the copy takes nothing from it. Only packs and refs count there.

# With STATE and NEW: makes a checkpoint unless there is nothing yet. Fails if a file cannot be added.
checkpoint() (
  store=$GIT_DIR/limactl-mcp.undo
  [ "$STATE" != absent ] || exit 0
  sent=$(git rev-parse -q --verify 'refs/limactl-mcp/sent^{commit}' || echo "$NEW")
  head=$(git rev-parse -q --verify 'HEAD^{commit}')
  [ "$head" != "$sent" ] || head=
  objects=$GIT_DIR/objects
  number=$(($(git for-each-ref --format='%(refname:lstrip=3)' refs/limactl-mcp/undo | sort -n | tail -n 1) + 1))
  # What a checkpoint shares with what was sent stays.
  git update-ref "refs/limactl-mcp/undo/$number" "$sent" || fail_or_full checkpoint
  format=$(git rev-parse --show-object-format)
  [ ! -L "$store" ] || rm -f "$store"
  export GIT_DIR="$store" GIT_INDEX_FILE="$store/index"
  git rev-parse --git-dir >/dev/null 2>&1 || (
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    rm -rf "$store" "$store.new"
    git init -q --bare --template= --object-format="$format" "$store.new" && mv "$store.new" "$store"
  ) || fail_or_full checkpoint
  rm -rf "$store"/objects/[0-9a-f][0-9a-f] "$store"/objects/pack/tmp_*
  {
    mkdir -p "$store/info" "$store/objects/info" && echo "$objects" >"$store/objects/info/alternates" &&
      ln -sf ../../info/exclude "$store/info/exclude" &&
      echo '* -text -ident -filter !working-tree-encoding' >"$store/info/attributes"
  } || fail_or_full checkpoint
  git ls-files >/dev/null 2>&1 || rm -f "$store/index"
  last=$(git for-each-ref --format='%(refname)' --sort=-version:refname --count=1 refs/undo)
  add_all || fail_or_full checkpoint
  [ -z "$(list_unadded)" ] || fail unadded
  tree=$(git write-tree) || { rm -f "$store/index" && fail_or_full checkpoint; }
  {
    made=$(git -c user.name=undo -c user.email=undo@localhost commit-tree \
      -p "$sent" ${head:+-p "$head"} -m undo "$tree") &&
      printf '%s\n' "$made" "^$sent" ${last:+"^$last^{tree}"} |
      git pack-objects --revs -q "$store/objects/pack/pack" >/dev/null &&
      git update-ref "refs/undo/$number" "$made" ''
  } || fail_or_full checkpoint
  rm -rf "$store"/objects/[0-9a-f][0-9a-f]
)
