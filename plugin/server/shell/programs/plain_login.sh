# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# One command in a new login shell. resident_script.cc sets _lm_enter, which changes the directory in any
# shell, _lm_stays, which fails if a link has led there, _lm_shell and _lm_text; process.sh _lm_input,
# redirections. The user's shell reports why it cannot.

eval "$_lm_enter" 2>/dev/null || {
  echo "$_lm_marker began"
  exec "$SHELL" -c "$_lm_enter || exit 1"
}

# The profile may change the directory, and define functions with any name. It has ended once the shell
# reports "began": not seen in a trace (set -x), nor as the marker in a list of processes. Nothing follows
# the command, which replaces the shell.
_lm_began="echo ${_lm_marker%-*}''-${_lm_marker##*-} began"
_lm_way='\command'
case $_lm_shell in
  *csh)
    echo "$_lm_marker began"
    eval "$_lm_stays" || exit 1
    [ -z "$_lm_input" ] || exec <&9 9<&-
    exec "$_lm_shell" -l -c "$_lm_text"
    ;;
  *fish)
    exec "$_lm_shell" -l -c "$_lm_text${_lm_input:+ $_lm_input}" \
      -C "builtin $_lm_enter && command $_lm_began && command $_lm_stays || exit 1"
    ;;
  *zsh) _lm_way='\builtin' ;;
esac
_lm_began="{ $_lm_way $_lm_enter >/dev/null && $_lm_way $_lm_began >&6 && $_lm_way exec $_lm_input 6>&- && \
$_lm_way $_lm_stays; } 2>/dev/null || exit 1"
exec "$_lm_shell" -l -c "$_lm_began; $_lm_text" 6>&1
