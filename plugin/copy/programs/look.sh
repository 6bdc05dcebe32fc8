# SPDX-License-Identifier: Apache-2.0
# Set before each call: G (the copy's directory), ID (the project's), SENT and BASE (commits, or empty), DONE
# (commits that the host has taken, SENT and BASE among them), TAKEN (the last of them), BRANCH, LENT (lines: names
# of files that are no work), RECORDS (the names under which the host knows what is set aside). They print reports: lines of words.

begin() {
  aside=$HOME/.cache/limactl-mcp/dropped
  export LC_ALL=C GIT_DIR="$G/.git" GIT_WORK_TREE="$G" GIT_LFS_SKIP_SMUDGE=1 GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0
  unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE
  # As `git -c` does. A function `git` would cost a process more for each.
  export GIT_CONFIG_PARAMETERS="'core.hooksPath=/dev/null' 'hook.reference-transaction.enabled=false' \
'hook.post-index-change.enabled=false' 'core.fsmonitor=false' 'core.splitIndex=false' \
'core.sparseCheckout=false' 'core.bare=false' 'core.quotePath=false' 'gc.auto=0' \
'advice.addEmbeddedRepo=false'"
  copied=$GIT_DIR/limactl-mcp
  next=$copied.next
  index=$copied.index
  command -v git >/dev/null || fail git
  beat &
  beat=$!
  trap '{ kill "$beat"; wait "$beat"; } 2>/dev/null' EXIT
  # One at a time, also one whose connection was lost.
  if [ -f "$copied" ]; then
    cd "$G" || fail gone
    if command -v flock >/dev/null; then
      exec 9>>"$copied"
      # BusyBox's knows no -w.
      tries=$TRIES
      until flock -n 9; do
        [ $((tries -= 1)) -gt 0 ] || fail busy
        sleep 1
      done
    fi
  fi
}
# Prints an empty line to standard error for each ten seconds in which another process of this session has
# worked, so that the host can tell a git that takes long from one that hangs.
beat() {
  # PID (NAME) STATE PARENT GROUP SESSION …
  read -r self line </proc/self/stat
  # shellcheck disable=SC2086
  set -- ${line##*) }
  parent=$2 session=$4
  spent=
  sleep 10 &
  trap 'kill "$!"; exit' TERM
  while wait "$!" && kill -0 "$parent" 2>/dev/null; do
    before=$spent
    spent=0
    for each in /proc/[0-9]*; do
      { read -r line <"$each/stat"; } 2>/dev/null || continue
      # shellcheck disable=SC2086
      set -- ${line##*) }
      [ "$4" != "$session" ] || [ "$2" = "$self" ] || [ "${each#/proc/}" = "$self" ] ||
        spent=$((spent + ${12} + ${13} + ${14} + ${15}))
    done
    [ "$spent" = "$before" ] || echo >&2
    sleep 10 &
  done
}
fail() {
  echo fail "$*"
  exit 1
}
# Fails unless so many KiB are free.
require_space() {
  free=$(df -Pk "$G" 2>/dev/null | awk 'NR == 2 { print $4 }')
  [ "${free:-$1}" -ge "$1" ] || fail space "$((${NEEDED:-0} / 1000000 + 1))"
}
# Reports a failure with less than 1 MiB free as lack of space.
fail_or_full() {
  require_space 1024
  fail "$1"
}
# Whether one of the words $2 is $1.
is_among() {
  for word in $2; do
    [ "$word" != "$1" ] || return 0
  done
  return 1
}
# Reads the answer of cat-file for one object: its id, or nothing unless it is of this type.
read_id() {
  read -r id type || return
  [ "$type" = "$1" ] || id=
}
# Puts the NUL that ends each name in the place of the line feed, or back.
swap_ends() {
  tr '\n\0' '\0\n'
}
# Adds all files but $LENT. Sets problems: what git says of those that it could not add.
add_all() {
  problems=$(git add -A --ignore-errors 2>&1 >/dev/null)
  if [ $? -gt 1 ]; then
    printf '%s\n' "$problems" >&2
    return 1
  fi
  [ -z "$LENT" ] || printf '%s\n' "$LENT" | tr '\n' '\0' | git update-index -z --force-remove --stdin
}
# Prints "rest KIND NAME" for what was not added: unreadable, protected (another user's) or refused (by git).
list_unadded() {
  [ "$problems" ] || return 0
  require_space 1024
  {
    printf '%s\n' "$problems" | sed -n "s/^warning: could not open directory '\(.*\)': .*/\1/p"
    git ls-files -o -m --exclude-standard 2>/dev/null | grep -v '/"\{0,1\}$'
  } | sort -u | head -n 100 | while IFS= read -r name; do
    kind=unreadable
    [ ! -e "$name" ] || [ -O "$name" ] || kind=protected
    [ ! -L "$name" ] && { [ -d "$name" ] || [ ! -r "$name" ]; } || kind=refused
    echo rest "$kind" "$name"
  done
}
# Prints "aside NAME" for what is set aside of the project.
list_aside() {
  for each in "$aside"/*/.git/limactl-mcp; do
    each=${each%/.git/limactl-mcp}
    if [ ! -L "$each" ] && IFS= read -r owner <"$each/.git/limactl-mcp" && [ "$owner" = "$ID" ]; then
      echo aside "${each##*/}"
    fi
  done 2>/dev/null
}

# Prints the state of the directory: absent, dropped (set aside, which the host does not know), foreign, other (of
# another project), interrupted (while it was sent), damaged, or ours. With HAVE (lines: commits that the host
# has), also those that are here.
look() {
  owner=
  known=
  if [ -f "$copied" ] && [ ! -L "$G" ]; then
    IFS= read -r owner <"$copied"
  fi
  if [ "$owner" = "$ID" ]; then
    objects=$(git cat-file --batch-check='%(objectname) %(objecttype)' 2>/dev/null <<END
HEAD^{commit}
HEAD^{tree}
refs/limactl-mcp/sent^{commit}
$SENT^{commit}
$SENT^{tree}
$HAVE
END
    )
    {
      read_id commit && head=$id
      read_id tree && head_tree=$id
      read_id commit && old=$id
      read_id commit && sent=$id
      read_id tree && sent_tree=$id
      while read_id commit; do
        known="$known $id"
        [ -z "$id" ] || echo have "$id"
      done
    } <<END
$objects
END
    state=ours
    [ ! -e "$next" ] || [ "$(cat "$next")" != "$SENT" ] || rm -f "$next"
    if [ -e "$next" ]; then
      state=interrupted
    elif [ -z "$SENT" ]; then
      state=interrupted
      [ -z "$old" ] || state=foreign
    elif [ -z "$sent" ]; then
      state=damaged
    fi
  elif [ -n "$owner" ]; then
    state=other
  elif [ ! -e "$G" ] && [ ! -L "$G" ]; then
    state=absent
    for each in $(list_aside); do
      [ -z "$SENT" ] || is_among "$each" "aside $RECORDS" || { state=dropped && echo aside "$each"; }
    done
  elif [ -d "$G" ] && [ ! -L "$G" ] && [ -z "$(find "$G" ! -path "$G" ! -path "$GIT_DIR" ! -path "$next" \
    ! \( -path "$copied" -size 0 \) | head -n 1)" ]; then
    # Empty, or with what prepare() has made, since the last one was killed.
    state=absent
  else
    state=foreign
  fi
  echo state "$state"
  [ "$state" != absent ] || git version
}
