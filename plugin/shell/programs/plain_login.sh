# shellcheck shell=sh
# One command in a new login shell. resident_script.cc sets _lm_enter, which changes the directory in any
# shell, _lm_shell and _lm_text. The user's shell reports why it cannot.

eval "$_lm_enter" 2>/dev/null || exec "$SHELL" -c "$_lm_enter || exit 1"
exec "$_lm_shell" -l -c "$_lm_text"
