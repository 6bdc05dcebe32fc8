# Sends the work, unless the host has it, without what the host has: what follows "pack" is a pack.
[ "$state" != ours ] || work
say decide
if [ "$state" != ours ] || is_among "$work" "$HAVE"; then
  exit 0
fi
say pack
{
  echo "$work"
  for id in $known; do
    echo "^$id"
  done
} | git pack-objects --revs --stdout --thin --delta-base-offset --progress
