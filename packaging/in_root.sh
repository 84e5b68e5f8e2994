# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# in_root COMMAND...: runs a command in $root, the root of a system that is not booted: with its own /proc, the
# host's network, and $packages at /mnt. Sourced by the tests of the packages.
in_root() {
  # shellcheck disable=SC2154 # set by the caller
  unshare --mount --propagation private bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --bind "$1" "$root/mnt"; shift
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "$@"' _ "$root" "$packages" "$@"
}
