# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A loop of /bin/sh. resident_script.cc sets _lm_next, what it reports after a request: "free", or "left"
# if the first request is the last one, and may leave background processes.

obey() {
  pass_requests
}

# A request is a line: a word, and the code quoted, with $_lm_n for each line end.
start() {
  (
    trap : HUP INT TERM
    echo "$_lm_marker" >&8
    echo "$_lm_marker ready"
    while IFS=' ' read -r _lm_word _lm_code <&9; do
      eval "_lm_code=$_lm_code"
      if [ "$_lm_word" = define ]; then
        eval "$_lm_code"
        continue
      fi
      (
        trap - HUP INT TERM
        exec 2>&8 8>&- 9<&-
        set --
        eval "$_lm_code"
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
