# SPDX-License-Identifier: Apache-2.0
# Bare Debian systems, for `test` and `bare`, which source this and define `work`, `say` and `skip`.
# mmdebstrap makes them from the mirror of this machine's apt. They are kept.
# shellcheck shell=bash disable=SC2154

cache=${XDG_CACHE_HOME:-$HOME/.cache}/limactl-mcp/bare-systems
# `as_user` runs the program as this user, because limactl refuses root.
readonly kUser=65534

find_mirror() {
  [ "$(id -u)" = 0 ] || skip 'making a bare system and changing into it needs root'
  command -v mmdebstrap >/dev/null || skip 'no mmdebstrap on this machine (apt-get install mmdebstrap)'
  # shellcheck disable=SC2016 # apt's own placeholders
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' |
    sed -n 's/^Debian Debian //p' | head -n 1)
  [ -n "$mirror" ] || skip 'this machine uses no mirror of Debian (or run apt-get update first)'
}

make_system() { # RELEASE
  [ ! -f "$cache/$1.tar" ] || return 0
  say "making a bare Debian $1"
  mkdir -p "$cache"
  mmdebstrap --quiet --variant=minbase "$1" "$cache/$1.new.tar" "$mirror" || {
    rm -f "$cache/$1.new.tar"
    skip "mmdebstrap cannot make a Debian $1"
  }
  mv "$cache/$1.new.tar" "$cache/$1.tar"
}

# Unpacks a new system. Its mirror may have changed since the system was made.
unpack_system() { # RELEASE ROOT
  mkdir "$2"
  tar xf "$cache/$1.tar" -C "$2"
  printf 'deb %s %s main\n' "$mirror" "$1" >"$2/etc/apt/sources.list"
  # To resolve names.
  cp /etc/resolv.conf /etc/hosts "$2/etc/"
}

# Runs a command in the system, with /proc, /dev and /sys, the work directory at the same path, and this
# machine's network. Its mounts vanish when it exits. A chroot could make no mounts or user namespaces.
in_system() { # ROOT COMMAND…
  local root=$1
  shift
  mkdir -p "$root$work"
  # shellcheck disable=SC2016 # for the shell inside
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$work/home" \
    LIMA_HOME="$work/lima" DEBIAN_FRONTEND=noninteractive WORK="$work" ROOT="$root" \
    unshare --mount sh -ec 'mount --bind "$ROOT" "$ROOT"; mount -t proc proc "$ROOT/proc"
      mount --rbind /dev "$ROOT/dev"; mount --rbind /sys "$ROOT/sys"; mount --bind "$WORK" "$ROOT$WORK"
      cd "$ROOT"; pivot_root . mnt; umount -l mnt; cd /; exec "$@"' sh "$@"
}

# The same as an ordinary user, in the project's directory.
as_user() { # ROOT COMMAND…
  local root=$1
  shift
  in_system "$root" setpriv --reuid="$kUser" --regid="$kUser" --clear-groups \
    env -C "$work/project" "$@"
}
