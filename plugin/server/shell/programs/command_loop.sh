# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2316 # `declare` and others are names of functions.
# bash counts the lines of a request from the line of `eval`, so this program becomes one line. It
# defines no functions, and unsets its variables before a request: a command would see them.
#
# A command must find what the profile has left: functions, options, variables that are not exported. So
# the loop runs in that very shell, and a request in a subshell of it. What the loop itself relies on may
# be changed by a profile, too: it is checked once, and a shell that fails the check is not used. The
# subshell is a job in the background, because only then is there `$!`, where the search for processes
# left behind begins. The loop exits only before it runs a request, with status 0: the next shell may run it.

# Is the shell fit? Positional parameters: the profile's files, and _lm_seen which of them exist.
if IFS=" " read -r _lm_marker _lm_watcher _lm_session <&6 &&
  [ "${BASH_VERSINFO:-0}" -ge 4 ] &&
  [ -r /proc/self/stat ] &&
  case $- in *[aefkmntuvxET]*) false ;; esac &&
  ! shopt -q expand_aliases &&
  ! shopt -q extdebug &&
  ! shopt -q nocasematch &&
  [ -z "$(
    trap -p EXIT DEBUG ERR RETURN HUP INT TERM
    declare -F [ break case cd command declare echo eval exec grep hash kill printf read set shopt sleep \
      trap unset wait
  )" ] &&
  [ /dev/fd/1 -ef /dev/fd/7 ] &&
  [ /dev/fd/2 -ef /dev/fd/8 ] &&
  exec 7>&- 2>/dev/null &&
  _lm_seen= &&
  set -- /etc/profile /etc/profile.d /etc/profile.d/*.sh /etc/bash.bashrc /etc/bashrc \
    ~/.bash_profile ~/.bash_login ~/.profile ~/.bashrc &&
  for _lm_file; do
    [ -e "$_lm_file" ]
    _lm_seen=$_lm_seen$?
  done
then
  trap : HUP INT TERM
  _lm_reopen=
  [ -p /dev/fd/1 ] && [ -w /dev/fd/1 ] && [ -p /dev/fd/8 ] && [ -w /dev/fd/8 ] && _lm_reopen=1
  echo "$_lm_marker" >&8
  echo "$_lm_marker ready"
  while IFS= read -ru 9 _lm_line && IFS= read -ru 9 _lm_word && IFS= read -ru 9 _lm_code; do
    # Another directory. This shell holds it: otherwise 9p looks it up for each command.
    if [ -n "$_lm_line" ]; then
      printf -v _lm_directory %b "$_lm_line"
      exec 5<"$_lm_directory/." || :
    fi
    printf -v _lm_code %b "$_lm_code"

    # Has a file of the profile changed since the start, was one created or removed?
    _lm_now=
    for _lm_file; do
      if [[ -e $_lm_file ]]; then
        _lm_now+="0"
        [[ $_lm_file -nt /dev/fd/6 ]] && exit 0
      else
        _lm_now+="1"
      fi
    done
    [[ $_lm_now = "$_lm_seen" ]] || exit 0

    # A program replaces the subshell. `hash` finds the word only if it is a program, not a builtin: bash
    # need not wait for it.
    _lm_exec=
    if [ -n "$_lm_word" ]; then
      hash -d -- "$_lm_word"
      hash -- "$_lm_word" && [ -n "${BASH_CMDS[$_lm_word]}" ] && _lm_exec=1
    fi

    # With `set -m` the command has a process group of its own. It opens the pipes again, so that
    # O_NONBLOCK ends with it; not if they belong to another user, as with a ForceCommand that changes
    # the user.
    set -m
    (
      set +m
      trap - HUP INT TERM
      [ -z "$_lm_reopen" ] || exec >/proc/self/fd/1 2>/proc/self/fd/2
      set --
      BASH_EXECUTION_STRING=$_lm_code
      command cd -L "$_lm_directory" || exit 1
      # A link may have taken the place of a directory. `pwd` would go by the name.
      _lm_line=$_lm_directory
      while [[ -n $_lm_line && ! -L $_lm_line ]]; do
        _lm_line=${_lm_line%/*}
      done
      [[ -z $_lm_line && . -ef $_lm_directory ]] || {
        echo "$_lm_directory was replaced by a link: nothing was run" >&2
        exit 1
      }
      if [ -n "$_lm_exec" ]; then
        unset -v "${!_lm_@}"
        eval "exec -- $BASH_EXECUTION_STRING"
      else
        unset -v "${!_lm_@}"
        eval -- "$BASH_EXECUTION_STRING"
      fi
    ) 2>&8 5<&- 6<&- 8>&- 9<&- &
    set +m

    # `wait` does not end with a stopped job, but with a caught signal.
    while
      wait "$!"
      _lm_status=$?
      [ "$_lm_status" -gt 128 ] && kill -0 "$!"
    do
      :
    done
    echo "$_lm_marker $_lm_status"
    echo "$_lm_marker" >&8

    # Processes that the command has left have ids between its own and the last one; all are looked at
    # where there are too many, or the ids have started again. Those in another session count if they
    # hold the output. What is about to exit gets a moment. The session's own are in its group.
    for _lm_pause in 0.05 ""; do
      _lm_left=
      _lm_id=$!
      _lm_last=0
      IFS=" " read -r _lm_line _lm_line _lm_line _lm_line _lm_last </proc/loadavg
      if [ "$_lm_last" -lt "$_lm_id" ] || [ "$_lm_last" -gt "$((_lm_id + 1000))" ]; then
        _lm_ids=(/proc/[0-9]*)
      else
        _lm_ids=()
        while [ "$_lm_id" -lt "$_lm_last" ]; do
          _lm_id=$((_lm_id + 1))
          _lm_ids+=("/proc/$_lm_id")
        done
      fi
      for _lm_id in "${_lm_ids[@]}"; do
        IFS= read -r _lm_line <"$_lm_id/stat" || continue
        _lm_line=${_lm_line##*") "}
        if [[ $_lm_line = [!ZX]" "+([0-9])" "+([0-9])" $_lm_session "* ]]; then
          [[ $_lm_line = ?" "+([0-9])" $_lm_session "* ]] || _lm_left=1
        elif [[ $_lm_id/fd/1 -ef /dev/fd/1 || $_lm_id/fd/2 -ef /dev/fd/8 ]]; then
          _lm_left=1
        fi
      done
      if [ -z "$_lm_left" ] || [ -z "$_lm_pause" ]; then
        break
      fi
      sleep "$_lm_pause"
    done
    if [ -n "$_lm_left" ]; then
      kill -USR1 "$_lm_watcher"
      echo "$_lm_marker left"
      break
    fi
    echo "$_lm_marker free"
  done
  exit 0
else
  (exit 1)
fi
