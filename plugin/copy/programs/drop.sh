# FORCE: also what is damaged, or has work that was not taken.
if [ "$state" = ours ] && [ -z "$FORCE" ]; then
  work
  count_files
fi
say decide
read -r answer && [ "$answer" = drop ] || exit 0
cd /
rm -rf "$G" 2>/dev/null
[ ! -e "$G" ] || { chmod -R u+rwX "$G" && rm -rf "$G"; } 2>/dev/null
[ ! -e "$G" ] || sudo -n rm -rf "$G" 2>/dev/null
[ ! -e "$G" ] || fail drop
say end
