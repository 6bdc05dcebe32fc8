# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# One long-running command, in place of the loop. resident_script.cc sets _lm_command.

# The watcher itself must never block, or it would miss the end of its input. Requests: i BYTES (escaped,
# for printf %b), e (end of input), k SIGNAL.
obey() {
  writer=
  spared=$$
  while IFS= read -r line; do
    case $line in
      'i '*)
        [ -z "$writer" ] || wait "$writer"
        {
          printf %b "${line#i }"
          echo "$_lm_marker took" >&4
        } &
        writer=$!
        ;;
      e) exec >/dev/null ;;
      'k '*)
        if [ -r /proc/self/stat ]; then
          find_sessions
          kill_others "${line#k }"
        else
          kill "-${line#k }" 0
        fi
        ;;
    esac
  done
  spared=-
}

# What the process leaves gets a second to end by itself: it may still be writing output.
start() {
  (
    exec 2>&1 8>&-
    # Not for the profile: it would wait for input.
    _lm_input='<&9 9<&-'
    eval "$_lm_command"
  )
  status=$?
  exec 9<&-
  [ -r /proc/self/stat ] && {
    spared=$$
    stop wait TERM KILL
  }
}
