# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The first process of a session. `obey` and `start` come from the program that stands before this one:
# scripts.sh, login.sh or process.sh. resident_script.cc sets _lm_marker, and puts all into one compound
# command, so that sh has read all of it before it runs any.
#
# Two processes, because a shell that runs a command does not notice the end of its input. The watcher,
# left of the pipe, reads the channel and nothing else: when the connection is gone, its input ends, and
# it stops the rest. What starts the loop, right of the pipe, gets its requests through it. The watcher
# cannot know its id by `$$`, so it reads that in /proc and sends it first. USR1 ends it after the loop;
# while it stops everything it ignores USR1, or the report of what is left would be lost.
#
# Descriptors: 3 the channel's input, 4 its output, 8 its error, 9 the requests.

exec 3<&0 4>&1 8>&2 </dev/null 2>/dev/null

# Signals such as TERM are caught, not ignored: the command would inherit ignored ones. Only the watcher
# ignores them.
trap : HUP INT QUIT TERM

# git must not open an editor: there is no terminal.
export GIT_EDITOR="${GIT_EDITOR-true}"

# A line end; short, as it stands for each one in a request.
_lm_n='
'

# kill_others leaves the children of this process alone.
spared=-

# The sessions that are stopped, as patterns for grep: this one, and those that find_sessions finds.
sessions=" $$ "

# find_sessions: adds the sessions of what the known ones have started (setsid). `rows` are all processes:
# id, parent, group, session.
find_sessions() {
  rows=$(sed -n 's|^\([0-9]*\) .*) [^ZX] \([0-9]*\) \([0-9]*\) \([1-9][0-9]*\) .*|\1/\2/\3/\4|p' \
    /proc/[0-9]*/stat)
  members=' '
  known=
  while [ "$known" != "$members$sessions" ]; do
    known=$members$sessions
    for row in $rows; do
      id=${row%%/*}
      parent=${row#*/}
      case $sessions/$members in
        *" ${row##*/} "*/*" $id "*) ;;
        *" ${row##*/} "*/*) members="$members$id " ;;
        */*" ${parent%%/*} "*) sessions="$sessions$_lm_n ${row##*/} " ;;
      esac
    done
  done
}

# kill_others SIGNAL [STAT…]: signals the sessions' other processes, also those in groups of their own.
# As kill, it fails if there are none. grep preselects: `read` needs a system
# call for each byte. With an empty second argument it needs no fork. Fields of /proc/PID/stat behind the
# name: state, parent, group, session. `kill -TERM PID` without "--": dash and BusyBox do not support it.
kill_others() {
  left=
  stats=${2-$(grep -l "$sessions" /proc/[0-9]*/stat)}
  for stat in ${stats:-/proc/[0-9]*/stat}; do
    read -r line <"$stat" || continue
    pid=${stat#/proc/}
    # shellcheck disable=SC2086 # The fields are words.
    set -- "$1" "${pid%/stat}" ${line##*") "}
    case $2/$3/$4 in
      "$watcher"/* | $$/* | */[ZX]/* | */$spared) continue ;;
    esac
    case $sessions in
      *" $6 "*)
        kill "-$1" "$2"
        left=1
        ;;
    esac
  done
  [ -n "$left" ]
}

# stop SIGNAL…: sends each, and waits up to a second for the end of what it was sent to; `wait` in place
# of a signal only waits. Fails if something is left. The pauses add up to one second, also if sleep
# supports only whole seconds. A shell that cannot fork exits and runs its EXIT trap.
stop() {
  [ -r /proc/self/stat ] || {
    kill -TERM 0
    sleep 1
    kill -KILL 0
  }
  trap 'kill_others KILL ""; kill -KILL 0' EXIT
  for signal in "$@"; do
    find_sessions
    # Stopped first: no shell sees its command killed, and says so, before it is killed itself.
    [ "$signal" != KILL ] || kill_others STOP
    [ "$signal" = wait ] || kill_others "$signal"
    for pause in 0.02 0.1 0.2 0.3 0.38; do
      kill_others 0 || {
        trap - EXIT
        return 0
      }
      sleep "$pause" || {
        sleep 1
        break
      }
    done
  done
  trap - EXIT
  return 1
}

# The loop has exited with $status: 126 or above if it was not started or was killed. A killed loop
# leaves its command running, so the rest of the session is stopped.
stop_rest() {
  [ "$status" = 0 ] || {
    spared=$$
    stop TERM KILL
  }
}

pass_requests() {
  while IFS= read -r line; do
    printf '%s\n' "$line" || break
  done
}

# USR1 ends the watcher unless it has begun to stop everything.
end() {
  kill -USR1 "$watcher"
  echo "$_lm_marker ended $status"
  echo "$_lm_marker" >&8
}

{
  trap '' HUP INT QUIT TERM PIPE
  # shellcheck disable=SC2016 # The new shell's parent is wanted.
  read -r watcher rest </proc/self/stat || watcher=$(exec /bin/sh -c 'echo $PPID')
  echo "$watcher" || exit
  obey
  exec >&4
  # A loop that waits for requests ends now, and with it this process: the rest looks at all processes.
  sleep 0.02
  trap '' USR1
  stop TERM KILL
  echo "$_lm_marker stopped"
  echo "$_lm_marker" >&8
} <&3 | {
  trap : HUP INT QUIT TERM
  read -r watcher
  exec 3<&- 4>&- 9<&0 </dev/null
  trap end EXIT
  status=126
  start
  trap - EXIT
  end
}
