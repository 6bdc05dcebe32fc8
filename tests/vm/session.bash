# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scripts that work in the test VM: one at a time, stopped as a whole by a signal. Sourced by
# tests/vm/run and tests/bench/run-vm, which set `keep` to yes to leave the instance running.

instance=tests/vm/instance
name=default

say() { printf '\n==> %s\n' "$*"; }

# A command runs in a process group of its own. A signal to this script kills the whole group: otherwise
# a test would run on, and restart the machine that is being stopped.
group=
in_group() { # COMMAND...
  local status=0
  set -m
  "$@" 8>&- &
  group=$!
  set +m
  wait "$group" || status=$?
  group=
  return "$status"
}

# shellcheck disable=SC2317  # a trap runs it
interrupted() { # EXIT-CODE
  trap '' INT TERM HUP
  if [ -n "$group" ]; then
    kill -TERM -- "-$group" 2>/dev/null || true
    wait "$group" 2>/dev/null || true
  fi
  exit "$1"
}

# shellcheck disable=SC2317,SC2154  # a trap runs it; `keep` is the script's
leave() {
  local status=$?
  trap '' INT TERM HUP
  [ "$keep" = yes ] || "$instance" stop --name "$name" >&2 || status=1
  exit "$status"
}

# One run at a time: another one would break the same machine. Only this script holds the lock, not what
# it starts, because the machine may outlive it. macOS has no flock(1).
lock_machine() {
  local cache=${XDG_CACHE_HOME:-${HOME:-~}/.cache}/limactl-mcp/vm
  command -v flock >/dev/null || return 0
  mkdir -p "$cache"
  exec 8>"$cache/run-lock"
  flock --nonblock 8 || {
    say "waiting for another run to finish with the virtual machine" >&2
    flock 8
  }
}

# However this script exits, the machine is stopped unless `keep` is yes.
leave_on_exit() {
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM HUP
  trap leave EXIT
}
