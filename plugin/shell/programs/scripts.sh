# shellcheck shell=sh
# A loop of /bin/sh. resident_script.cc sets _lm_next, what it reports after a request: "free", or "left"
# if the first request is the last one, and may leave background processes.

obey() {
  pass_requests
}

_lm_newline='
'

start() {
  (
    trap : HUP INT TERM
    echo "$_lm_marker" >&8
    echo "$_lm_marker ready"
    while IFS=' ' read -r _lm_count _lm_word <&9 && IFS= read -r _lm_code <&9; do
      while [ "$_lm_count" -gt 1 ]; do
        IFS= read -r _lm_line <&9 || exit 0
        _lm_code=$_lm_code$_lm_newline$_lm_line
        _lm_count=$((_lm_count - 1))
      done
      if [ "$_lm_word" = define ]; then
        eval "$_lm_code"
        continue
      fi
      (
        trap - HUP INT TERM
        exec 2>&8 8>&- 9<&-
        set --
        eval "unset -v _lm_marker _lm_next _lm_newline _lm_count _lm_word _lm_code _lm_line; $_lm_code"
      )
      _lm_status=$?
      [ "$_lm_next" = free ] || kill -USR1 "$watcher"
      echo "$_lm_marker $_lm_status"
      echo "$_lm_marker $_lm_next"
      echo "$_lm_marker" >&8
      [ "$_lm_next" = free ] || break
    done
    exit 0
  )
  status=$?
  stop_rest
}
