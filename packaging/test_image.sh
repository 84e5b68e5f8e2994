#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_image.sh ROOT: runs the server of an unpacked container image as a container runtime would that keeps
# Kubernetes' standard "restricted": user 65532, no capabilities, a read-only root with a writable /tmp, a
# network of its own. It must become ready, answer, report its health, and stop in order. ROOT is the root
# of the image, for example of `buildah mount $(buildah from nereid)`. Needs root, unshare and ip.
set -euo pipefail
root=$(readlink -f "$1")
models=$(mktemp -d)
trap 'rm -rf "$models"' EXIT
mkdir -p "$models/echo/1"
cat >"$models/echo/config.pbtxt" <<'TEXT'
backend: "identity"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 2 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 2 ] }
TEXT
chmod -R a+rX "$models"
[ ! -e "$root/bin/sh" ] || { echo "the image has a shell" >&2; exit 1; }
du -sm "$root" | awk '{ print "size: " $1 " MB" }'

unshare --mount --net --pid --fork --propagation private bash -euo pipefail -c '
  root=$1 models=$2
  ip link set lo up
  mount --bind "$root" "$root"
  mount --bind "$models" "$root/models"
  mount -t tmpfs tmpfs "$root/tmp"
  mkdir -p "$root/proc" "$root/dev"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -o remount,bind,ro "$root"
  # Another user than root has no capabilities.
  in_image() {
    chroot --userspec=65532:65532 --groups= "$root" "$@"
  }
  chroot --userspec=65532:65532 --groups= "$root" /usr/bin/nereid serve --model-repository=/models \
    >"$models/log" 2>&1 &
  server=$!
  end=$((SECONDS + 30))
  until in_image /usr/bin/nereid status >/dev/null 2>&1; do
    kill -0 "$server" && [ $SECONDS -lt $end ] || { cat "$models/log"; exit 1; }
    sleep 0.2
  done
  in_image /usr/bin/nereid status
  in_image /usr/bin/nereid models
  grep -E "^(Uid|CapEff)" "$root/proc/$server/status"
  grep -q "^CapEff:[[:space:]]*0*$" "$root/proc/$server/status" || { echo "it has capabilities"; exit 1; }
  in_image /bin/sleep 0
  kill -TERM "$server"
  wait "$server"
' _ "$root" "$models"
echo "All is well."
