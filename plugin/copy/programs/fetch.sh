# Sends the work without what the host has, or all of it: what follows "pack" is a pack.
if [ "$state" = ours ]; then
  work
fi
say decide
read -r answer || exit 0
say pack
{
  echo "$work"
  if [ "$answer" = thin ]; then
    for id in $known; do
      echo "^$id"
    done
  fi
} | git pack-objects --revs --stdout --thin --delta-base-offset --progress
